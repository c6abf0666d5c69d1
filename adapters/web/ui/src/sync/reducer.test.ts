// @vitest-environment node
import { describe, expect, it } from "vitest";
import { membership } from "../model/select";
import type { Channel, Message, StreamEvent } from "../model/types";
import type { MessageWindow, State } from "../store/contract";
import { agent, ask, askOf, asking, channel, group, message, person, position, topic } from "../testing/builders";
import { joinPositions } from "./counting";
import { emptyState, reduce } from "./reducer";
import { newestRead, olderRead, opened } from "./windows";

const ann = person("ann");
const ben = person("ben");
const bot = agent("bot", ann.id);
const plan = channel("plan", [ann, ben, bot]);

const state = (change: Partial<State> = {}): State => ({
  ...emptyState(ann.id),
  accounts: new Map([ann, ben, bot].map((each) => [each.id, each])),
  channels: new Map([[plan.id, plan]]),
  topics: new Map([["topic-plan", topic("plan", plan.id, { messageCount: 2, lastSeq: 2, participantIds: [ann.id] })]]),
  positions: new Map([["topic-plan", position("topic-plan", { seq: 1, unread: 1, countedTo: 2 })]]),
  reach: new Map([[plan.id, 2]]),
  ready: true,
  ...change,
});
const after = (before: State, ...events: readonly StreamEvent[]): State => events.reduce((now, event) => reduce(now, event, 5_000).state, before);
const posted = (of: Message): StreamEvent => ({ kind: "message_posted", message: of });
const updated = (of: Message): StreamEvent => ({ kind: "message_updated", message: of });
const withWindow = (messages: readonly Message[], complete = false): State => state({ windows: new Map([["topic-plan", { messages, gapless: true, complete, loading: "none", error: undefined }]]) });
const loaded = (of: State): readonly number[] => of.windows.get("topic-plan")?.messages.map((each) => each.seq) ?? [];

describe("messages", () => {
  it("C13 come in order, replace what is there, and are counted once", () => {
    const before = withWindow([message(2, "b")]);
    const now = after(before, posted(message(4, "d", { authorId: ben.id })), posted(message(3, "c")), posted(message(4, "D", { authorId: ben.id })));
    expect(loaded(now)).toEqual([2, 3, 4]);
    expect(now.windows.get("topic-plan")?.messages.at(-1)?.blocks).toEqual([{ kind: "text", text: "D" }]);
    expect(now.topics.get("topic-plan")?.messageCount).toBe(3);
    expect(loaded(before)).toEqual([2]);
  });

  it("C13 an update stays in its place, and what an event does not touch is the same object", () => {
    const other = topic("other", plan.id);
    const before = { ...withWindow([message(1, "a"), message(2, "b")]), topics: new Map([...state().topics, [other.id, other]]) };
    const now = after(before, updated(message(1, "A")));
    expect(now.windows.get("topic-plan")?.messages.map((each) => each.blocks)).toEqual([[{ kind: "text", text: "A" }], [{ kind: "text", text: "b" }]]);
    expect(now.windows.get("topic-plan")?.messages[1]).toBe(before.windows.get("topic-plan")?.messages[1]);
    for (const same of ["accounts", "groups", "channels", "topics", "presence", "positions", "openAsks"] as const) expect(now[same], same).toBe(before[same]);
    expect(after(before, posted(message(3, "c"))).topics.get(other.id)).toBe(other);
  });

  it("count for the topic and, if others wrote them, as unread", () => {
    const now = after(state(), posted(message(3, "c", { authorId: ben.id, at: 9_000 })), posted(message(4, "d", { authorId: ann.id, at: 8_000 })));
    expect(now.topics.get("topic-plan")).toMatchObject({ messageCount: 4, lastSeq: 4, lastActivity: 9_000, participantIds: [ann.id, ben.id] });
    expect(now.positions.get("topic-plan")).toEqual({ topicId: "topic-plan", seq: 1, unread: 2, countedTo: 4 });
  });

  it("that a read has seen or a replay brings again change nothing", () => {
    const before = state();
    expect(after(before, posted(message(2, "b", { authorId: ben.id })), posted(message(1, "a", { authorId: ben.id })))).toBe(before);
  });

  it("older than the loaded part stay out, so that no gap opens", () => {
    const before = { ...withWindow([message(5, "e")]), reach: new Map([[plan.id, 5]]) };
    expect(loaded(after(before, updated(message(3, "c"))))).toEqual([5]);
    expect(loaded(after({ ...withWindow([message(5, "e")], true), reach: new Map([[plan.id, 5]]) }, updated(message(3, "c"))))).toEqual([3, 5]);
  });

  it("a sixth author is not listed", () => {
    const five = ["1", "2", "3", "4", "5"];
    const before = state({ topics: new Map([["topic-plan", topic("plan", plan.id, { participantIds: five, lastSeq: 2 })]]) });
    expect(after(before, posted(message(3, "c"))).topics.get("topic-plan")?.participantIds).toEqual(five);
  });
});

describe("asks", () => {
  const open = message(3, [asking(ask("a")), asking(ask("b"))], { authorId: bot.id });
  const withEnd = (a: "open" | "answered" | "cancelled"): Message =>
    message(3, [asking(askOf("a", { answered: a === "answered", cancelled: a === "cancelled" })), asking(ask("b"))], { authorId: bot.id });

  it("outside any window update the inbox and the topic, each ask by itself", () => {
    const asked = after(state(), posted(open));
    expect([...asked.openAsks.keys()]).toEqual(["a", "b"]);
    expect(asked.topics.get("topic-plan")?.openAsks).toBe(2);
    for (const end of ["answered", "cancelled"] as const) {
      const now = after(asked, updated(withEnd(end)));
      expect([...now.openAsks.keys()], end).toEqual(["b"]);
      expect(now.topics.get("topic-plan")?.openAsks, end).toBe(1);
      expect(now.windows.size).toBe(0);
    }
  });

  it("that were told as closed do not open again, whatever comes late", () => {
    const closed = after({ ...withWindow([message(2, "b")]) }, posted(open), updated(withEnd("answered")));
    const late = after(closed, posted(open), updated(open));
    expect([...late.openAsks.keys()]).toEqual(["b"]);
    const [block] = late.windows.get("topic-plan")?.messages.at(-1)?.blocks ?? [];
    expect(block?.kind === "ask" && block.ask.end.kind).toBe("answered");
  });

  it("that a window has read as closed do not wait in the inbox until the stream says so", () => {
    const before = withWindow([message(2, "b"), withEnd("cancelled")]);
    expect([...after(before, posted(open)).openAsks.keys()]).toEqual(["b"]);
  });

  it("close though their message is told with a topic that is not known any more", () => {
    const asked = after(state(), posted(open));
    const late = { ...withEnd("answered"), topicId: "topic-gone" };
    expect([...after(asked, updated(late)).openAsks.keys()]).toEqual(["b"]);
  });

  it("of a replayed message that a read has seen are not added", () => {
    expect(after(state({ reach: new Map([[plan.id, 3]]) }), posted(open)).openAsks.size).toBe(0);
  });

  it("that make a topic are added, though the topic is told with its counters first", () => {
    const made = topic("new", plan.id, { messageCount: 1, lastSeq: 3 });
    const first = message(3, [asking(ask("a"))], { authorId: bot.id, topicId: made.id });
    const now = after(state(), { kind: "topic_upserted", topic: made }, posted(first));
    expect([...now.openAsks.keys()]).toEqual(["a"]);
    expect(now.topics.get(made.id)).toMatchObject({ messageCount: 1, openAsks: 1 });
    expect(now.positions.get(made.id)?.unread).toBe(1);
  });
});

describe("topics", () => {
  it("are told with their counters, of which those count that reach further", () => {
    const told = topic("plan", plan.id, { name: "Plans", archived: true, messageCount: 9, lastSeq: 9, openAsks: 7 });
    expect(after(state(), { kind: "topic_upserted", topic: told }).topics.get(told.id)).toEqual({ ...told, openAsks: 0 });
    const late = { ...told, messageCount: 1, lastSeq: 1 };
    expect(after(state(), { kind: "topic_upserted", topic: late }).topics.get(told.id)).toMatchObject({ name: "Plans", archived: true, messageCount: 2, lastSeq: 2 });
  });

  it("that were joined before we looked do not come back from a replay", () => {
    const old = topic("old", plan.id, { messageCount: 1, lastSeq: 1 });
    const before = state();
    const now = after(before, { kind: "topic_upserted", topic: old }, posted(message(1, [asking(ask("x"))], { topicId: old.id })));
    expect([...now.topics.keys()]).toEqual(["topic-plan"]);
    expect(now.openAsks.size).toBe(0);
    const joined = after(now, { kind: "topic_merged", fromId: old.id, into: topic("plan", plan.id, { messageCount: 2, lastSeq: 2 }) });
    expect(joined.topics.get("topic-plan")?.messageCount).toBe(2);
    expect(joined.merged.get(old.id)).toBe("topic-plan");
  });

  it("of channels that are not ours are left alone", () => {
    const foreign = topic("foreign", "channel-foreign", { lastSeq: 9 });
    expect(after(state(), { kind: "topic_upserted", topic: foreign })).toEqual(state());
  });

  it("that are joined bring their messages, positions, asks and whoever comes late along", () => {
    const other = topic("other", plan.id, { messageCount: 3, lastSeq: 5, participantIds: [ben.id] });
    const before = state({
      topics: new Map([...state().topics, [other.id, other]]),
      positions: new Map([...state().positions, [other.id, position(other.id, { seq: 5, unread: 0, countedTo: 5 })]]),
      openAsks: new Map([["a", { channelId: plan.id, message: message(4, [asking(ask("a"))], { topicId: other.id }) }]]),
      windows: new Map([
        ["topic-plan", { messages: [message(2, "b")], gapless: true, complete: false, loading: "none", error: undefined }],
        [other.id, { messages: [message(1, "a", { topicId: other.id }), message(5, "e", { topicId: other.id })], gapless: true, complete: true, loading: "none", error: undefined }],
      ]),
      reach: new Map([[plan.id, 5]]),
    });
    const into = topic("plan", plan.id, { messageCount: 5, lastSeq: 5, participantIds: [ann.id, ben.id] });
    const now = after(before, { kind: "topic_merged", fromId: other.id, into });
    expect([...now.topics.keys()]).toEqual(["topic-plan"]);
    expect(now.topics.get("topic-plan")).toMatchObject({ messageCount: 5, lastSeq: 5, openAsks: 1 });
    // All of the other was read, so the position is that in this one.
    expect(now.positions.get("topic-plan")).toMatchObject({ seq: 1, unread: 1 });
    // What is older than the gapless part of an incomplete window is left to be read.
    expect(loaded(now)).toEqual([2, 5]);
    expect(now.windows.get("topic-plan")?.messages.every((each) => each.topicId === "topic-plan")).toBe(true);
    expect(now.openAsks.get("a")?.message.topicId).toBe("topic-plan");
    const late = after(now, posted(message(6, "f", { topicId: other.id, authorId: ben.id })));
    expect(loaded(late)).toEqual([2, 5, 6]);
    expect(late.topics.get("topic-plan")?.messageCount).toBe(6);
  });

  it("that are joined again take along what was joined to them", () => {
    const [other, last] = [topic("other", plan.id, { messageCount: 1, lastSeq: 5 }), topic("last", plan.id, { messageCount: 1, lastSeq: 6 })];
    const before = state({ topics: new Map([...state().topics, [other.id, other], [last.id, last]]), merged: new Map([["from before", other.id]]) });
    const now = after(
      before,
      { kind: "topic_merged", fromId: other.id, into: topic("plan", plan.id, { messageCount: 3, lastSeq: 5 }) },
      { kind: "topic_merged", fromId: "topic-plan", into: { ...last, messageCount: 4 } },
    );
    expect(Object.fromEntries(now.merged)).toEqual({ "from before": last.id, [other.id]: last.id, "topic-plan": last.id });
  });

  it("that are joined to one whose newest page could not be read are read again", () => {
    const other = topic("other", plan.id, { messageCount: 1, lastSeq: 5 });
    const failed: MessageWindow = { messages: [message(2, "b")], gapless: false, complete: false, loading: "none", error: "away" };
    const inOther: MessageWindow = { ...failed, messages: [message(5, "e", { topicId: other.id })], gapless: true, complete: true, error: undefined };
    const before = { ...state({ windows: new Map([["topic-plan", failed], [other.id, inOther]]) }), topics: new Map([...state().topics, [other.id, other]]) };
    const reduced = reduce(before, { kind: "topic_merged", fromId: other.id, into: topic("plan", plan.id, { messageCount: 3, lastSeq: 5 }) }, 0);
    expect([reduced.reload, reduced.state.windows.get("topic-plan")?.gapless]).toEqual([["topic-plan"], false]);
  });

  it("that are joined to one whose messages are not loaded are read again", () => {
    const other = topic("other", plan.id, { messageCount: 1, lastSeq: 5 });
    const before = { ...withWindow([message(2, "b")]), topics: new Map([...state().topics, [other.id, other]]) };
    const reduced = reduce(before, { kind: "topic_merged", fromId: other.id, into: topic("plan", plan.id, { messageCount: 3, lastSeq: 5 }) }, 0);
    expect(reduced.reload).toEqual(["topic-plan"]);
    expect(reduced.state.windows.get("topic-plan")?.loading).toBe("newest");
  });
});

describe("positions", () => {
  it("move forward only", () => {
    const told = (seq: number, unread: number, countedTo: number): StreamEvent => ({ kind: "read_position_changed", position: position("topic-plan", { seq, unread, countedTo }) });
    expect(after(state(), told(2, 0, 2)).positions.get("topic-plan")).toMatchObject({ seq: 2, unread: 0 });
    expect(after(state(), told(0, 2, 2))).toEqual(state());
    // Counted when the next message was there already: its event does not count again.
    const counted = after(state(), told(2, 1, 3), posted(message(3, "c", { authorId: ben.id })));
    expect(counted.positions.get("topic-plan")?.unread).toBe(1);
  });
});

describe("positions in topics that are joined", () => {
  const side = (id: string, seq: number, newest: number) => ({ topic: topic(id, "c", { lastSeq: newest }), position: position(`topic-${id}`, { seq, unread: 1, countedTo: newest }) });
  it("mark nothing as read: the lower one counts, unless all of its topic was read", () => {
    const joined = (from: readonly [number, number], into: readonly [number, number]) => joinPositions(side("from", ...from), side("into", ...into)).seq;
    expect(joined([4, 8], [9, 9])).toBe(4);
    expect(joined([9, 9], [4, 8])).toBe(4);
    expect(joined([8, 8], [9, 9])).toBe(9);
    expect(joined([4, 8], [2, 9])).toBe(2);
    expect(joined([0, 0], [4, 8])).toBe(4);
    expect(joinPositions(side("from", 1, 5), side("into", 1, 7))).toMatchObject({ topicId: "topic-into", unread: 2, countedTo: 7 });
  });
});

describe("channels and accounts", () => {
  const changed = (now: Channel, removedIds: readonly string[] = []): StreamEvent => ({ kind: "channel_changed", channel: now, removedIds });

  it("C7 another's removal changes a channel's members; the person's own comings and goings are read, not believed", () => {
    const before = withWindow([message(2, "b")]);
    const without = (gone: string) => changed({ ...plan, memberIds: plan.memberIds.filter((id) => id !== gone) }, [gone]);
    const other = after(before, without(ben.id));
    expect(other.channels.get(plan.id)?.memberIds).toEqual([ann.id, bot.id]);
    expect(other.topics).toBe(before.topics);
    const gained = channel("gained", [ann]);
    for (const event of [without(ann.id), changed(gained)]) expect(reduce(before, event, 0)).toEqual({ state: before, moved: true, reload: [] });
    expect(reduce(before, changed({ ...plan, name: "new" }), 0)).toMatchObject({ moved: false });
    expect(reduce(before, changed(channel("seen", [ben])), 0)).toMatchObject({ moved: false });
  });

  it("C7 a channel that is not seen any more does not come back by the news of the removal", () => {
    expect(after(state(), changed(channel("hidden", [ben]), [ann.id])).channels.has("channel-hidden")).toBe(false);
  });

  it("a tree channel is come into with the agent it hangs on", () => {
    const anchor = agent("anchor", ann.id);
    const before = reduce(state(), changed(channel("tree", [], { anchorId: anchor.id })), 0);
    expect(before.moved).toBe(false);
    expect(reduce(before.state, { kind: "account_changed", account: anchor }, 0).moved).toBe(true);
  });

  it("C8 a new agent and then its home channel: the home is always subscribed", () => {
    const home = channel("home", [ann, bot]);
    const made = agent("new", ann.id, { homeChannelId: home.id });
    const now = after(state(), { kind: "account_changed", account: made }, { kind: "channel_changed", channel: home, removedIds: [] });
    expect(membership(now, home)).toBe("always");
    expect(membership(now, plan)).toBe("subscribed");
  });

  it("groups and accounts are put in their place", () => {
    const made = group("new", ann.id);
    const now = after(state(), { kind: "group_changed", group: made }, { kind: "account_changed", account: { ...ben, displayName: "Ben" } });
    expect(now.groups.get(made.id)).toBe(made);
    expect(now.accounts.get(ben.id)?.displayName).toBe("Ben");
  });
});

describe("presence", () => {
  const told = (is: "working" | undefined, activity: string): StreamEvent => ({ kind: "presence_changed", agentId: bot.id, state: is, activity });

  it("C15 is one agent's, keeps what it last said, and is not touched by its messages", () => {
    const busy = after(state(), told("working", "tests"));
    expect(busy.presence.get(bot.id)).toEqual({ state: "working", activity: "tests", activityAt: 5_000 });
    expect(after(busy, told("working", "")).presence.get(bot.id)?.activity).toBe("tests");
    expect(after(busy, told(undefined, "x"))).toBe(busy);
    expect(after(state(), posted(message(3, "c", { authorId: bot.id }))).presence.size).toBe(0);
  });
});

describe("C9 events without a body", () => {
  it("C9 change nothing", () => {
    const before = state();
    for (const kind of ["boundary", "resync_required", "other"] as const) expect(after(before, { kind })).toBe(before);
  });
});

describe("windows", () => {
  it("keep what is told while the newest page is on its way, and drop what does not join on", () => {
    const before = after(opened(state(), "topic-plan"), posted(message(60, "late", { authorId: ben.id })));
    const now = newestRead(before, "topic-plan", [message(59, "b"), message(58, "a")], before.windows.get("topic-plan")?.messages ?? []);
    expect(loaded(now)).toEqual([58, 59, 60]);
    expect(now.windows.get("topic-plan")).toMatchObject({ complete: false, loading: "none" });
  });

  it("C11 are complete after an empty page and not after a short one", () => {
    const short = olderRead(withWindow([message(9, "i")]), "topic-plan", "message-9", [message(8, "h")]);
    expect(short.windows.get("topic-plan")?.complete).toBe(false);
    expect(olderRead(short, "topic-plan", "message-8", []).windows.get("topic-plan")?.complete).toBe(true);
    // A page that was asked for before the window changed.
    expect(olderRead(short, "topic-plan", "message-9", []).windows.get("topic-plan")?.complete).toBe(false);
  });

  it("are given up beyond twelve, the one opened longest ago first", () => {
    let now = state();
    for (let count = 0; count < 13; count += 1) now = opened(now, `topic-${count}`);
    now = opened(now, "topic-1");
    now = opened(now, "topic-13");
    expect(now.windows.size).toBe(12);
    expect([...now.windows.keys()].slice(-2)).toEqual(["topic-1", "topic-13"]);
    expect(now.windows.has("topic-0")).toBe(false);
    expect(now.windows.has("topic-2")).toBe(false);
  });
});
