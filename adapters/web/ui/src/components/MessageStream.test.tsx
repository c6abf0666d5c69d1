import { fireEvent, screen } from "@solidjs/testing-library";
import { createSignal, flush } from "solid-js";
import { describe, expect, it, vi } from "vitest";
import type { MessageWindow } from "../store/contract";
import { channel, message, person, topic } from "../testing/builders";
import { focused } from "../testing/focus";
import { settle } from "../testing/store";
import { show, stillStore } from "../testing/view";
import { MessageStream } from "./MessageStream";
import { ESTIMATE } from "./stream-layout";
import type { Place } from "./stream-layout";

const ann = person("ann");
const bob = person("bob");
const room = channel("room", [ann, bob]);
const plan = topic("plan", room.id);
const many = (count: number) => Array.from({ length: count }, (_, index) => message(index + 1, `text ${index + 1}`, { authorId: bob.id }));
const window = (count: number, complete = true) => ({ messages: many(count), complete, loading: "none" as const, error: undefined });

describe("the stream", () => {
  it("C38 makes few elements for many messages, and opens at the latest", () => {
    const still = stillStore({ accounts: [ann, bob], channels: [room], topics: [plan] });
    const { container } = show(still, () => <MessageStream channelId={room.id} topic={plan} />);
    flush();
    expect(still.recorded).toContainEqual({ name: "openTopic", input: [room.id, plan.id] });
    still.setState({ windows: new Map([[plan.id, window(5000)]]) });
    const rows = [...container.querySelectorAll<HTMLElement>("[data-row]")];
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.length).toBeLessThan(60);
    expect(rows.at(-1)?.dataset["row"]).toBe("message-5000");
  });

  it.each(["Try again", "Dismiss"])("%s leaves the focus to the messages when it goes", async (name) => {
    const still = stillStore({ accounts: [ann, bob], channels: [room], topics: [plan] });
    show(still, () => <MessageStream channelId={room.id} topic={plan} linked="message-none" />);
    still.setState({ windows: new Map([[plan.id, { ...window(3), error: "the server is away" }]]) });
    const button = screen.getByRole("button", { name });
    button.focus();
    button.click();
    still.setState({ windows: new Map([[plan.id, window(3)]]) });
    await settle();
    expect(button).not.toBeInTheDocument();
    expect(focused()).toBe(screen.getByRole("region"));
  });

  describe("a message that an address names", () => {
    /** Message 2 of 20 is read only once it is looked for: `meanwhile` comes before. */
    const found = async (meanwhile: (region: HTMLElement) => void, first = "message-2") => {
      const still = stillStore({ accounts: [ann, bob], channels: [room], topics: [plan] });
      vi.stubGlobal("CSS", { escape: (text: string) => text });
      const [linked, setLinked] = createSignal(first);
      show(still, () => (
        <>
          <MessageStream channelId={room.id} topic={plan} linked={linked()} />
          <input aria-label="Beside" />
        </>
      ));
      const region = screen.getByRole("region");
      // Without a layout every place would be the end.
      Object.defineProperty(region, "scrollHeight", { value: 20 * ESTIMATE });
      still.setState({ windows: new Map([[plan.id, { ...window(20, false), messages: many(20).slice(5) }]]) });
      setLinked("message-2");
      flush();
      expect(screen.getByText("Looking for the linked message…")).toBeInTheDocument();
      meanwhile(region);
      flush();
      const isLookedFor = screen.queryByText("Looking for the linked message…") !== null;
      const before = region.scrollTop - 15 * ESTIMATE;
      still.setState({ windows: new Map([[plan.id, window(20)]]) });
      await new Promise(requestAnimationFrame);
      return { isLookedFor, moved: region.scrollTop - 20 * ESTIMATE - before };
    };
    it("has the focus once it is there", async () => {
      // A browser tells of what the page scrolled as well.
      const { isLookedFor, moved } = await found((region) => fireEvent.scroll(region));
      expect(isLookedFor).toBe(true);
      expect(moved).toBeLessThan(-10 * ESTIMATE);
      expect(focused()).toHaveTextContent("text 2");
    });
    it("C45 leaves it to the field in which one began to type meanwhile", async () => {
      await found(() => screen.getByRole("textbox", { name: "Beside" }).focus());
      expect(focused()).toHaveAccessibleName("Beside");
    });
    it("is not looked for once a person has scrolled", async () => {
      const scroll = (region: HTMLElement) => {
        region.scrollTop = 5 * ESTIMATE;
        fireEvent.scroll(region);
      };
      expect(await found(scroll)).toEqual({ isLookedFor: false, moved: 0 });
    });
    it("is not looked for once a person has jumped to the latest", async () => {
      const jump = () => screen.getByRole("button", { name: /^Jump to latest/ }).click();
      expect(await found(jump, "message-10")).toEqual({ isLookedFor: false, moved: 0 });
    });
  });

  describe("come back to", () => {
    const at = (row: number, into = 10): Place => ({ id: `message-${row}`, into, toEnd: 500 });
    const view = (linked?: string) => {
      const still = stillStore({ accounts: [ann, bob], channels: [room], topics: [plan] });
      const [back, setBack] = createSignal<Place | undefined>(at(3));
      show(still, () => <MessageStream channelId={room.id} topic={plan} linked={linked} places={{ back, watch: () => () => undefined }} />);
      flush();
      const region = screen.getByRole("region");
      // Without a layout every place would be the end.
      Object.defineProperty(region, "scrollHeight", { value: 100 * ESTIMATE });
      return {
        read: (loaded: MessageWindow) => still.setState({ windows: new Map([[plan.id, loaded]]) }),
        top: () => region.scrollTop,
        scroll: (top: number) => {
          region.scrollTop = top;
          fireEvent.scroll(region);
          flush();
        },
        goTo: (place: Place) => {
          setBack(place);
          flush();
        },
      };
    };
    it("is where it was left, also if its messages have to be read again first, and stays where it is scrolled to then", () => {
      const { read, top, scroll, goTo } = view();
      read({ ...window(0, false), error: "the server is away" });
      read({ ...window(0, false), loading: "newest" });
      read(window(20));
      expect(top()).toBe(2 * ESTIMATE + 10);
      scroll(5 * ESTIMATE);
      read(window(21));
      expect(top()).toBe(5 * ESTIMATE);
      goTo(at(8));
      expect(top()).toBe(7 * ESTIMATE + 10);
    });
    it("is at what the address names if what was there is not among the newest", () => {
      const { read, top } = view("message-10");
      read({ ...window(20), messages: many(20).slice(5) });
      expect(top()).toBeGreaterThan(3 * ESTIMATE);
      expect(top()).toBeLessThan(5 * ESTIMATE);
      read(window(20));
      expect(top()).toBeGreaterThan(8 * ESTIMATE);
    });
  });
});
