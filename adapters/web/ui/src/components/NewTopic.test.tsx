/** A topic that a person begins, from the form to where it stands. */
import { fireEvent, screen, within } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { describe, expect, it, vi } from "vitest";
import { Failure } from "../model/client";
import type { Channel, Message } from "../model/types";
import type { Store } from "../store/contract";
import { AGAIN_AFTER_MS } from "../store/outbox";
import { byId, channel, message, person, topic } from "../testing/builders";
import { focused } from "../testing/focus";
import { settle } from "../testing/store";
import { show, stillStore } from "../testing/view";
import { NewTopic } from "./NewTopic";

const ann = person("ann");
const bob = person("bob");
const room = channel("room", [ann, bob]);
const lose = new Failure("unknown", "the connection broke");
const posted: Message = { ...message(1, "hello"), topicId: "t" };

const view = (shown: Channel = room) => {
  const still = stillStore({ accounts: [ann, bob], channels: [shown] });
  const told: string[] = [];
  const post = vi.fn<Store["post"]>().mockResolvedValue(posted);
  Object.assign(still.store, { post });
  show(still, () => <NewTopic channel={shown} onStarted={({ topicId }) => told.push(topicId)} />);
  const field = (name: string) => screen.getByRole<HTMLInputElement>("textbox", { name });
  const write = (name: string, text: string) => {
    fireEvent.input(field("Topic name"), { target: { value: name } });
    fireEvent.input(field("First message"), { target: { value: text } });
    flush();
  };
  const button = () => screen.getByRole("button", { name: "Start topic" });
  const start = async (name: string, text: string) => {
    write(name, text);
    button().click();
    await settle();
  };
  return { ...still, told, post, field, write, button, start };
};
const press = async (name: string) => {
  const button = screen.getByRole("button", { name });
  button.focus();
  button.click();
  await settle();
};
const clock = () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  return async (ms: number) => {
    vi.advanceTimersByTime(ms);
    await settle();
  };
};

describe("a new topic", () => {
  it("needs a name and a message, posts them as one, and tells where", async () => {
    const { write, button, start, post, told } = view();
    write(" plans ", "");
    expect(button()).toBeDisabled();
    await start(" plans ", "hello");
    expect(post.mock.calls.map((each) => each.slice(0, 3))).toEqual([[room.id, { kind: "name", name: "plans" }, [{ kind: "text", text: "hello" }]]]);
    expect(told).toEqual(["t"]);
  });
  it("M3 a name that is too long is told with limit and size", () => {
    view().write("🧭".repeat(121), "");
    expect(screen.getByText("The topic name is too long: at most 120 characters, it has 121.")).toBeInTheDocument();
  });
  it("comes back to an empty form when it is refused, which says why until it is sent again", async () => {
    const { start, post, field, button } = view();
    post.mockRejectedValueOnce(new Failure("invalid", "no"));
    await start("plans", "hello");
    expect(["Topic name", "First message"].map((name) => field(name).value)).toEqual(["plans", "hello"]);
    expect(screen.getByRole("alert")).toHaveTextContent("Not sent. no");
    button().click();
    await settle();
    expect(screen.queryByRole("alert")).toBeNull();
    expect(field("Topic name").value).toBe("");
  });
  it("with the name of another one, whatever its case, is posted there only once that is meant", async () => {
    const { setState, start, post, field } = view();
    const asked = () => screen.queryByRole("group", { name: "There is a topic “Plans” already. Your message is posted there." });
    setState({ topics: byId([topic("Plans", room.id, { archived: true }), topic("elsewhere", "another")]) });
    await start(" plans", "hello");
    expect(post).not.toHaveBeenCalled();
    expect(focused()).toBe(asked());
    await press("Cancel");
    expect(asked()).toBeNull();
    expect(field("First message").value).toBe("hello");
    fireEvent.keyDown(field("First message"), { key: "Enter" });
    await settle();
    await press("Post there");
    expect(post.mock.calls.map((each) => each.slice(0, 3))).toEqual([[room.id, { kind: "name", name: "plans" }, [{ kind: "text", text: "hello" }]]]);
    await start("elsewhere", "hello");
    expect(post).toHaveBeenCalledTimes(2);
  });
  it("is in sight as long as it is on its way", async () => {
    const { start, post } = view();
    let release: (posted: Message) => void = () => undefined;
    post.mockReturnValueOnce(new Promise((resolve) => (release = resolve)));
    await start("plans", "hello");
    expect(screen.getByRole("listitem")).toHaveTextContent("plans hello");
    expect(screen.getByRole("listitem")).toHaveTextContent("Sending…");
    expect(screen.queryByRole("button", { name: "Edit" })).toBeNull();
    release(posted);
    await settle();
    expect(screen.queryByRole("listitem")).toBeNull();
  });
  it("that may have been begun is opened once it is known that it was", async () => {
    const later = clock();
    const { start, post, told } = view();
    post.mockRejectedValueOnce(lose);
    await start("plans", "hello");
    expect(screen.getByRole("alert")).toHaveTextContent("It is not known whether this was sent.");
    await later(AGAIN_AFTER_MS);
    expect(told).toEqual(["t"]);
    expect(post.mock.calls[1]).toEqual(post.mock.calls[0]);
    expect(screen.queryByRole("alert")).toBeNull();
  });
  it("is not gone to by whoever began another one meanwhile", async () => {
    const later = clock();
    const { start, write, post, told, field } = view();
    post.mockRejectedValueOnce(lose);
    await start("plans", "hello");
    write("other plans", "");
    await later(AGAIN_AFTER_MS);
    expect(post).toHaveBeenCalledTimes(2);
    expect(told).toEqual([]);
    expect(field("Topic name").value).toBe("other plans");
  });
  it("that may have been started is not written anew; it is taken off the list, and the focus is in the name then", async () => {
    clock();
    const { start, post, field } = view();
    post.mockRejectedValueOnce(lose);
    await start("plans", "hello");
    expect(screen.queryByRole("button", { name: "Edit" })).toBeNull();
    await press("Take off the list");
    within(screen.getByRole("group", { name: /^This topic may have been started/ })).getByRole("button", { name: "Take off the list" }).click();
    await settle();
    expect(screen.queryByRole("listitem")).toBeNull();
    expect(focused()).toBe(field("Topic name"));
  });
});

const rows: readonly (readonly [string, Channel, string | undefined])[] = [
  ["a member", room, undefined],
  ["another than the owner", { ...room, ownerOnly: true, ownerId: bob.id }, "Only the owner writes in this channel."],
  ["one who takes no part", { ...room, memberIds: [bob.id] }, "Join this channel to write here."],
];
it.each(rows)("C35 who may begin a topic: %s", (_, shown, reason) => {
  const { field } = view(shown);
  const isReadOnly = ["Topic name", "First message"].map((name) => field(name).readOnly);
  expect(isReadOnly).toEqual(reason === undefined ? [false, false] : [true, true]);
  if (reason !== undefined) {
    expect(screen.getByText(reason)).toBeVisible();
  }
});
