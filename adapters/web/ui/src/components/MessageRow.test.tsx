import { screen } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it, vi } from "vitest";
import type { Block, Message } from "../model/types";
import { agent, answering, ask, asking, channel, message, option, person, question, system } from "../testing/builders";
import { settle } from "../testing/store";
import { show, stillStore } from "../testing/view";
import { MessageRow } from "./MessageRow";

const ann = person("ann");
const bot = agent("bot", ann.id);
const compass = system();
const room = channel("room", [ann, bot]);

function view(shown: Message) {
  const still = stillStore({ accounts: [ann, bot, compass], channels: [room] });
  const { container } = show(still, () => <MessageRow message={shown} channelId={room.id} />);
  const row = container.querySelector<HTMLElement>("article");
  if (!row) throw new Error("no row");
  return { ...still, row };
}

describe("a message", () => {
  it("C46 the class says whether a person, an agent or the system wrote it", () => {
    for (const [author, kind] of [[ann, "user"], [bot, "agent"], [compass, "system"]] as const) expect(view(message(1, "x", { authorId: author.id })).row.className).toBe(`message ${kind}`);
    const { row } = view(message(1, "x", { authorId: "gone-1" }));
    expect(row.querySelector(".account-name")).toHaveTextContent("gone-1");
    expect(row).toHaveClass("unknown");
  });
  it("the time is hours and minutes, and the whole date on demand", () => {
    const { row } = view(message(1, "x", { at: Date.UTC(2026, 11, 1, 8, 5) }));
    const time = row.querySelector("time");
    expect(time?.textContent).toMatch(/^\d\d:\d\d$/);
    expect(time).toHaveAttribute("datetime", "2026-12-01T08:05:00.000Z");
    expect(time?.title).toContain("2026");
  });
  it("a time that no date can hold does not break the row", () => {
    expect(view(message(1, "x", { at: 9e15 })).row.querySelector("time")).toHaveAttribute("datetime", "1970-01-01T00:00:00.000Z");
  });
  it("W2 blocks stand in their order; an unknown one is a line, never an empty row", () => {
    const blocks: readonly Block[] = [{ kind: "text", text: "one" }, { kind: "unknown" }, asking(ask("a")), { kind: "text", text: "two" }];
    const { row } = view(message(1, blocks));
    expect([...row.querySelectorAll(".message-body > *")].map((each) => each.classList[0])).toEqual(["markdown", "message-unknown", "block-ask", "markdown"]);
    expect(view(message(1, [])).row).toHaveTextContent("(no text)");
  });
  it("3.8 a row with an ask is flagged, whatever became of the ask", () => {
    for (const end of [{ kind: "open" }, { kind: "cancelled", at: 1 }, { kind: "answered", by: ann.id, at: 1 }] as const)
      expect(view(message(1, [asking(ask("a", [question("q1")], end))])).row.querySelector(".message-flag")).toHaveTextContent("ASK");
    expect(view(message(1, "x")).row.querySelector(".message-flag")).toBeNull();
  });
  it("C40 pins and unpins over the server, and tells what went wrong", async () => {
    const { store, setState, recorded } = view(message(7, "x"));
    const pin = vi.spyOn(store.client, "pin").mockResolvedValue(room);
    screen.getByRole("button", { name: "Pin" }).click();
    expect(pin).toHaveBeenCalledWith(room.id, "message-7");
    await settle();
    setState({ channels: new Map([[room.id, { ...room, pins: [{ messageId: "message-7", position: 1, pinnedAt: 1, pinnedBy: ann.id }] }]]) });
    vi.spyOn(store.client, "unpin").mockRejectedValue(new Error("away"));
    screen.getByRole("button", { name: "Unpin" }).click();
    await settle();
    expect(recorded).toEqual([{ name: "report", input: ["unpin", new Error("away")] }]);
  });
  it("the link is the message's address; where the browser refuses to copy, it is shown", async () => {
    const writeText = vi.fn().mockResolvedValueOnce(undefined).mockRejectedValueOnce(new Error("denied"));
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    view(message(7, "x"));
    const button = screen.getByRole("button", { name: "Copy link" });
    button.click();
    await settle();
    expect(writeText).toHaveBeenCalledWith(`${location.origin}/channel/channel-room/topic/topic-plan/message/message-7`);
    expect(screen.getByText("Link copied")).toBeInTheDocument();
    button.click();
    await settle();
    expect(screen.getByRole("textbox", { name: "Link" })).toHaveValue(`${location.origin}/channel/channel-room/topic/topic-plan/message/message-7`);
  });
});

describe("W2 an answer", () => {
  it("is a card with one line for each question, and takes no input", () => {
    const answered = ask("a", [
      question("q1", { chosen: ["1"] }), question("q2", { multiple: true, chosen: ["0", "1"], customText: "and more" }), question("q3"),
      question("q4", { options: [option("0", { label: "N\u200Bo" })], chosen: ["0"] }),
    ], { kind: "answered", by: ann.id, at: 5 });
    const { row } = view(message(2, [answering(answered, bot.id)], { authorId: ann.id }));
    flush();
    expect(row.querySelector(".answer-title")).toHaveTextContent("ann answered");
    expect([...row.querySelectorAll("dd")].map((line) => [...line.querySelectorAll("span")].map((each) => each.textContent))).toEqual([["Option 1"], ["Option 0", "Option 1", "and more"], [], ["N⟦U+200B⟧o"]]);
    expect([...row.querySelectorAll("dd")][2]).toHaveTextContent("(skipped)");
    expect(row.querySelectorAll(".answer-card :is(input, button, textarea)")).toHaveLength(0);
  });
});
