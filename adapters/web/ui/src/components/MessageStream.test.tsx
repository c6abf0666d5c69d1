import { screen } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it } from "vitest";
import { channel, message, person, topic } from "../testing/builders";
import { focused } from "../testing/focus";
import { settle } from "../testing/store";
import { show, stillStore } from "../testing/view";
import { MessageStream } from "./MessageStream";

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
});
