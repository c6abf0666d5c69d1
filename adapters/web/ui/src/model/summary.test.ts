// @vitest-environment node
import { describe, expect, it } from "vitest";
import { emptyState } from "../sync/reducer";
import { ask, asking, message, topic } from "../testing/builders";
import { listed } from "../testing/topics";
import { RECENT_TOPICS, summaries } from "./summary";


describe("C39 the summary of a channel", () => {
  const all = {
    ...emptyState("ann"),
    ...listed,
    openAsks: new Map([["x", { message: message(1, [asking(ask("x"))]), channelId: "c" }], ["y", { message: message(2, [asking(ask("y"))]), channelId: "bare" }]]),
  };

  it("C39 counts what is unread and asked where one looks, and names the topics that moved last", () => {
    const found = summaries(all);
    expect(found.get("c")).toMatchObject({ unread: 3, openAsks: 1 });
    expect(found.get("c")?.recent.map((each) => each.name)).toEqual(["new", "a", "b"]);
    expect(found.get("c")?.recent).toHaveLength(RECENT_TOPICS);
    expect(found.get("d")).toMatchObject({ unread: 0, openAsks: 0 });
    expect(found.get("bare")).toEqual({ unread: 0, openAsks: 1, recent: [] });
  });

  it("is the same object while it says the same", () => {
    const before = summaries(all);
    const moved = { ...all, topics: new Map([...all.topics, ["topic-foreign", topic("foreign", "d", { lastActivity: 101, messageCount: 2 })]]) };
    const after = summaries(moved, before);
    expect(after.get("c")).toBe(before.get("c"));
    expect(after.get("d")).not.toBe(before.get("d"));
    const read = summaries({ ...all, positions: new Map() }, before);
    expect(read.get("c")?.unread).toBe(0);
    expect(read.get("d")).toBe(before.get("d"));
    expect(summaries({ ...all, openAsks: new Map() }, before).get("c")?.openAsks).toBe(0);
  });
});
