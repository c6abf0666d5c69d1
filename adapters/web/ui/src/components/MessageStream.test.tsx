import { fireEvent, screen } from "@solidjs/testing-library";
import { createSignal, flush } from "solid-js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { MessageWindow } from "../store/contract";
import { Keys } from "../keyboard/keys";
import { ask, asking, channel, message, person, topic } from "../testing/builders";
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
const window = (count: number, complete = true) => ({ messages: many(count), gapless: true, complete, loading: "none" as const, error: undefined });

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

  it("stays at its end when older messages come, though the browser knows no place so far down before the rows of the end are made", () => {
    const still = stillStore({ accounts: [ann, bob], channels: [room], topics: [plan] });
    show(still, () => <MessageStream channelId={room.id} topic={plan} />);
    const feed = screen.getByRole("feed");
    // Rows that are made are lower here than they are thought to be.
    const end = () => Number.parseFloat(feed.style.paddingTop) + Number.parseFloat(feed.style.paddingBottom) + feed.children.length * (ESTIMATE / 4);
    let top = 0;
    const browser = { get: () => top, set: (wanted: number) => (top = Math.min(wanted, end())) };
    Object.defineProperty(screen.getByRole("region"), "scrollTop", browser);
    still.setState({ windows: new Map([[plan.id, { ...window(100, false), messages: many(100).slice(50) }]]) });
    still.setState({ windows: new Map([[plan.id, window(100, false)]]) });
    expect(top).toBe(end());
  });

  it("a message that comes before the newest page is not shown as all there is, and reading that can be tried again", () => {
    const still = stillStore({ accounts: [ann, bob], channels: [room], topics: [plan] });
    show(still, () => <MessageStream channelId={room.id} topic={plan} />);
    still.setState({ windows: new Map([[plan.id, { ...window(1, false), gapless: false, loading: "newest" }]]) });
    expect([screen.getByText("text 1"), screen.getByText("Reading messages…")]).toHaveLength(2);
    still.setState({ windows: new Map([[plan.id, { ...window(1, false), gapless: false, error: "the server is away" }]]) });
    const tries = () => still.recorded.filter(({ name }) => name === "openTopic").length;
    const before = tries();
    screen.getByRole("button", { name: "Try again" }).click();
    expect([tries(), still.recorded.some(({ name }) => name === "loadOlder")]).toEqual([before + 1, false]);
  });

  describe("is one stop of Tab", () => {
    const view = (count: number, change: Partial<MessageWindow> = {}) => {
      const still = stillStore({ accounts: [ann, bob], channels: [room], topics: [plan] });
      const keys = new Keys(false);
      onTestFinished(keys.install(globalThis.window));
      const { container } = show(still, () => <MessageStream channelId={room.id} topic={plan} keys={keys} />);
      still.setState({ windows: new Map([[plan.id, { ...window(count), ...change }]]) });
      const named = (element: Element) => element.closest("[data-message]")?.getAttribute("data-message") ?? element.getAttribute("role");
      return {
        still,
        /** What Tab comes to, by the message it is in. */
        stops: () => [...container.querySelectorAll<HTMLElement>("a, button, input, pre, [tabindex]")].filter((each) => each.tabIndex >= 0 && !each.matches(":disabled")).map(named),
        at: () => named(document.activeElement ?? document.body),
        press: (key: string) => {
          fireEvent.keyDown(document.activeElement ?? document.body, { key });
          flush();
        },
      };
    };
    it("which j and k move, and then what can be done with the one that one is at", () => {
      const { stops, at, press } = view(100);
      expect(stops()).toEqual(["region"]);
      press("j");
      expect(at()).toBe("message-100");
      // The message, its pin and its link.
      expect(stops()).toEqual(["message-100", "message-100", "message-100"]);
      press("k");
      expect(at()).toBe("message-99");
      expect(stops()).toEqual(["message-99", "message-99", "message-99"]);
      press("j");
      press("j");
      expect(at()).toBe("message-100");
    });
    it("a key comes back to the message that was left, also to where its actions were used", () => {
      const { at, press, stops } = view(100);
      screen.getAllByRole("button", { name: "Copy link" }).at(-2)?.focus();
      flush();
      expect(stops()).toEqual(["message-99", "message-99", "message-99"]);
      press("k");
      expect(at()).toBe("message-98");
      screen.getByRole("region").focus();
      press("j");
      expect(at()).toBe("message-98");
    });
    it("a link in a message is come to from there; an open ask wherever one is, and a closed one not", async () => {
      const closed = asking(ask("b", undefined, { kind: "cancelled", at: 1 }));
      const text = "[a](https://x.example)";
      const { stops, press } = view(3, { messages: [message(1, text), message(2, [asking(ask("a"))]), message(3, [closed])] });
      // The parser of the texts.
      await vi.dynamicImportSettled();
      await settle();
      // Of the ask its link, its options and its field.
      expect(stops()).toEqual(["region", "message-2", "message-2", "message-2"]);
      press("j");
      expect(new Set(stops())).toEqual(new Set(["message-2", "message-3"]));
      press("k");
      press("k");
      expect(stops().filter((each) => each === "message-1")).toHaveLength(4);
    });
    it("and stays one while the message that one was at is too far away to be made", () => {
      const { stops, press, still } = view(100);
      press("j");
      still.setState({ windows: new Map([[plan.id, window(200)]]) });
      screen.getByRole("region").focus();
      flush();
      expect(stops()).toEqual(["region"]);
      press("k");
      expect(stops()).toEqual(["message-200", "message-200", "message-200"]);
    });
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
      read({ ...window(0, false), gapless: false, error: "the server is away" });
      read({ ...window(0, false), gapless: false, loading: "newest" });
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
