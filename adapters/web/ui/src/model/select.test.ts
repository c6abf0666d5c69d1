// @vitest-environment node
import { describe, expect, it } from "vitest";
import { emptyState } from "../sync/reducer";
import type { State } from "../store/contract";
import type { Account, PresenceState } from "./types";
import { agent, ask, asking, byId, channel, group, message, person, topic } from "../testing/builders";
import { listed } from "../testing/topics";
import * as select from "./select";

const ann = person("ann");
const ben = person("ben");
const bot = agent("bot", ann.id);
const state = (change: Partial<State> = {}): State => ({ ...emptyState(ann.id), accounts: byId<Account>([ann, ben, bot]), ready: true, ...change });
const names = (all: readonly { readonly name: string }[]): readonly string[] => all.map((each) => each.name);

describe("C39 the left column", () => {
  const [first, second, empty] = [group("b-first", ben.id), group("a-second", ben.id), group("empty", ben.id)];
  const channels = [
    channel("zebra", [ann], { groupId: first.id }), channel("ant", [ann], { groupId: first.id }), channel("cow", [ann], { groupId: second.id }),
    channel("lone", [ann]), channel("lost", [ann], { groupId: "group-unknown" }), channel("foreign", [ben], { groupId: second.id }),
    channel("dm", [ann, ben], { kind: "dm" }), channel("three", [ann, ben, bot], { kind: "group_dm" }), channel("tree", [], { anchorId: bot.id }),
  ];
  const of = select.rail(state({ groups: byId([first, second, empty]), channels: byId([...channels]) }));

  it("C39 has every channel once: groups in the server's order without empty ones, then ungrouped, direct, and what can be joined", () => {
    expect(of.groups.map(({ group: { name }, channels: inside }) => [name, names(inside)])).toEqual([["b-first", ["ant", "zebra"]], ["a-second", ["cow"]]]);
    expect(names(of.ungrouped)).toEqual(["lone", "lost", "tree"]);
    expect(names(of.direct)).toEqual(["dm", "three"]);
    expect(names(of.browse)).toEqual(["foreign"]);
    const placed = [...of.groups.flatMap((each) => each.channels), ...of.ungrouped, ...of.direct, ...of.browse];
    expect(placed.map((each) => each.id).sort()).toEqual(channels.map((each) => each.id).sort());
  });

  it("C39 has a beginning of so many channels in the same order", () => {
    const [first, second] = [group("one", ben.id), group("two", ben.id)];
    const inside = (name: string, groupId: string) => channel(name, [ann], { groupId });
    const whole = select.rail(state({ groups: byId([first, second]), channels: byId([inside("a", first.id), inside("b", first.id), inside("c", second.id), channel("d", [ann]), channel("e", [ann], { kind: "dm" }), channel("f", [ben])]) }));
    const shown = ({ groups, ungrouped, direct, browse }: select.Rail) => [...groups.flatMap((each) => [each.group.name, ...names(each.channels)]), "|", ...names(ungrouped), "|", ...names(direct), "|", ...names(browse)].join(" ");
    expect(select.railLength(whole)).toBe(5);
    expect([1, 2, 3, 4, 5, 9].map((count) => shown(select.beginning(whole, count)))).toEqual([
      "one a | | | f", "one a b | | | f", "one a b two c | | | f", "one a b two c | d | | f", "one a b two c | d | e | f", "one a b two c | d | e | f",
    ]);
  });

  it("C39 a conversation is called by the other handles, a channel by its name", () => {
    const label = (id: string) => { const found = channels.find((each) => each.id === id); return found && select.channelLabel(state(), found); };
    expect(label("channel-dm")).toBe("ben");
    expect(label("channel-three")).toBe("ben, bot");
    expect(label("channel-lone")).toBe("lone");
    expect(select.channelLabel(state(), channel("self", [ann], { kind: "dm" }))).toBe("self");
  });
});

describe("C39 topics", () => {
  const all = state(listed);

  it("C39 latest first, an empty one by its making, ties by id, archived ones hidden", () => {
    expect(names(select.topicsOf(all, "c"))).toEqual(["new", "a", "b", "old"]);
    expect(names(select.topicsOf(all, "c", true))).toEqual(["gone"]);
  });

  it("C39 a row names five participants, and what is unread is counted where one looks", () => {
    expect(select.participants(state(), topic("t", "c", { participantIds: [ann.id, "gone", bot.id, "1", "2", "3"] }))).toEqual(["ann", "gone", "bot", "1", "2"]);
    expect(select.unreadTotal(all)).toBe(3);
  });
});

describe("the inbox", () => {
  it("has every open ask once, oldest first, with where it is", () => {
    const [late, early] = [message(2, [asking(ask("b")), asking(ask("c"))], { at: 9 }), message(1, [asking(ask("a"))], { at: 3 })];
    const waiting = select.inbox(state({ openAsks: new Map([["b", { message: late, channelId: "x" }], ["a", { message: early, channelId: "y" }]]) }));
    expect(waiting.map((each) => [each.ask.id, each.channelId])).toEqual([["a", "y"], ["b", "x"]]);
  });
});

describe("C40 the pinned board", () => {
  const pin = (messageId: string, place: number) => ({ messageId, position: place, pinnedAt: 0, pinnedBy: ann.id });

  it("C40 has what was read for it, in the topic that holds it now", () => {
    const merged = state({ merged: new Map([["t", "into"]]) });
    const board = select.pinnedBoard(merged, channel("c", [ann], { pins: [pin("message-2", 0), pin("message-3", 1)] }), [message(2, "two", { topicId: "t" })]);
    expect(board.map((each) => [each.message.id, each.message.topicId])).toEqual([["message-2", "into"]]);
  });

  it("C40 is in its order, leaves out what is neither loaded nor read, and follows the channel", () => {
    const loaded = state({ windows: new Map([["t", { messages: [message(1, "one"), message(2, "two")], gapless: true, complete: true, loading: "none", error: undefined }]]) });
    const board = (pins: readonly ReturnType<typeof pin>[]) => select.pinnedBoard(loaded, channel("c", [ann], { pins }), []).map((each) => each.message.id);
    expect(board([pin("message-2", 1), pin("message-9", 0), pin("message-1", 2)])).toEqual(["message-2", "message-1"]);
    expect(board([pin("message-1", 0)])).toEqual(["message-1"]);
  });
});

describe("C42 deep links", () => {
  const plan = channel("plan", [ann]);
  const there = state({ channels: byId([plan]), topics: byId([topic("here", plan.id), topic("else", "other")]), merged: new Map([["topic-old", "topic-here"]]) });

  it("C42 are held until the first snapshot, then found or sent on", () => {
    expect(select.resolveLink({ ...there, ready: false }, "no", "no")).toEqual({ kind: "held" });
    expect(select.resolveLink(there, plan.id, "topic-here")).toEqual({ kind: "found", channelId: plan.id, topicId: "topic-here" });
    expect(select.resolveLink(there, plan.id, undefined)).toEqual({ kind: "found", channelId: plan.id, topicId: undefined });
    expect(select.resolveLink(there, "no", "topic-here")).toEqual({ kind: "channel_gone" });
    expect(select.resolveLink(there, plan.id, "no")).toEqual({ kind: "topic_gone", channelId: plan.id, movedTo: undefined });
    expect(select.resolveLink(there, plan.id, "topic-else")).toEqual({ kind: "topic_gone", channelId: plan.id, movedTo: undefined });
  });

  it("C42 to a joined topic lead to where its messages are", () => {
    expect(select.resolveLink(there, plan.id, "topic-old")).toEqual({ kind: "topic_gone", channelId: plan.id, movedTo: "topic-here" });
    expect([select.topicNow(there, "topic-old"), select.topicNow(there, "topic-here")]).toEqual(["topic-here", "topic-here"]);
  });
});

describe("C41 membership and posting", () => {
  it("C41 tells every standing, and a mandatory one apart", () => {
    const of = (change: Parameters<typeof channel>[2], members = [ann]) => select.membership(state({ accounts: byId<Account>([ann, { ...bot, homeChannelId: "channel-home" }]) }), channel(change?.id ?? "x", members, change));
    expect(of({}, [ben])).toBe("none");
    expect(of({ subscriberIds: [] })).toBe("member");
    expect(of({})).toBe("subscribed");
    expect(of({ mandatory: true })).toBe("mandatory");
    expect(of({ id: "channel-home", subscriberIds: [] })).toBe("always");
  });

  it("C35 only the owner posts where only the owner may, and nobody where there is none", () => {
    const may = (change: Parameters<typeof channel>[2], members = [ann]) => select.mayPost(state(), channel("c", members, change));
    expect(may({})).toBe("yes");
    expect(may({}, [ben])).toBe("not_member");
    expect(may({ ownerOnly: true, ownerId: ann.id })).toBe("yes");
    expect(may({ ownerOnly: true, ownerId: ben.id })).toBe("owner_only");
    expect(may({ ownerOnly: true })).toBe("owner_only");
  });
});

describe("agents", () => {
  it("stand below each other; one without a seen parent, and one of a circle, at the top", () => {
    const made = (handle: string, parentId?: string) => agent(handle, ann.id, { parentId });
    const forest = select.agentTree(state({ accounts: byId([made("top"), made("low", "agent-mid"), made("mid", "agent-top"), made("lost", "agent-gone"), made("x", "agent-y"), made("y", "agent-x")]) }));
    const told = (nodes: readonly select.AgentNode[]): unknown[] => nodes.map((node) => [node.agent.handle, node.descendants, told(node.children)]);
    expect(told(forest)).toEqual([["lost", 0, []], ["top", 2, [["mid", 1, [["low", 0, []]]]]], ["x", 1, [["y", 0, []]]]]);
  });

  it("C15 nobody has seen are stopped", () => {
    expect(select.presenceOf(state(), bot.id)).toBe("stopped");
    expect(select.presenceOf(state({ presence: new Map([[bot.id, { state: "waiting", activity: "", activityAt: 0 }]]) }), bot.id)).toBe("waiting");
  });

  it("do nothing while they are offline, and what they said before once they are back", () => {
    const said = (now: PresenceState) => select.activityOf(state({ presence: new Map([[bot.id, { state: now, activity: "reads the log", activityAt: 1 }]]) }), bot.id);
    expect([said("stopped"), said("idle"), said("waiting")]).toEqual(["", "reads the log", "reads the log"]);
    expect(select.activityOf(state(), bot.id)).toBe("");
  });
});
