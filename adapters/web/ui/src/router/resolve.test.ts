// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { State } from "../store/contract";
import { emptyState } from "../sync/reducer";
import { agent, ask, asking, byId, channel, message, person, topic } from "../testing/builders";
import { resolveRoute } from "./resolve";
import type { Route } from "./route";

const ann = person("ann");
const bot = agent("bot", ann.id);
const plan = channel("plan", [ann, bot]);
const start = topic("start", plan.id);
const none: ReadonlySet<string> = new Set();

const state = (change: Partial<State> = {}): State => ({
  ...emptyState(ann.id), ready: true, accounts: byId([ann, bot]), channels: byId([plan]), topics: byId([start]), ...change,
});
const at = (topicId: string, messageId?: string): Route => ({ kind: "topic", channelId: plan.id, topicId, messageId });

describe("what an address shows", () => {
  const cold = state({ ready: false, channels: new Map(), topics: new Map(), accounts: new Map() });
  const routes: readonly Route[] = [at("nowhere"), { kind: "channel", channelId: "nowhere" }, { kind: "agent", agentId: "nobody" }, { kind: "inbox" }];

  it("C42 nothing is decided before the first snapshot, not even for what is unknown", () => {
    for (const route of routes) expect(resolveRoute(route, cold, none), route.kind).toEqual({ kind: "held" });
  });
  it("C42 only the inbox is shown before the first snapshot is whole, once it has something to answer", () => {
    const waiting = { ...cold, openAsks: new Map([["a", { message: message(1, [asking(ask("a"))]), channelId: "channel-plan" }]]) };
    for (const route of routes) expect(resolveRoute(route, waiting, none).kind, route.kind).toBe(route.kind === "inbox" ? "show" : "held");
  });
  it("C42 what there is is shown", () => {
    const routes: readonly Route[] = [at(start.id), at(start.id, "m"), { kind: "channel", channelId: plan.id }, { kind: "agent", agentId: bot.id }, { kind: "help" }];
    for (const route of routes) expect(resolveRoute(route, state(), none), route.kind).toEqual({ kind: "show", route });
  });
  it("C42 an unknown channel or agent leads home, and says so", () => {
    expect(resolveRoute({ kind: "channel", channelId: "nowhere" }, state(), none)).toEqual({ kind: "redirect", to: "/", notice: "no_channel" });
    expect(resolveRoute({ kind: "topic", channelId: "nowhere", topicId: start.id, messageId: undefined }, state(), none)).toEqual({ kind: "redirect", to: "/", notice: "no_channel" });
    expect(resolveRoute({ kind: "agent", agentId: ann.id }, state(), none)).toEqual({ kind: "redirect", to: "/", notice: "no_agent" });
  });
  it("C42 an unknown topic leads to its channel", () => {
    for (const messageId of [undefined, "m"]) expect(resolveRoute(at("gone", messageId), state(), none)).toEqual({ kind: "redirect", to: `/channel/${plan.id}`, notice: "no_topic" });
  });
  it("C42 a topic of a channel one takes no part in leads to the channel, and says so", () => {
    const others = state({ channels: byId([{ ...plan, memberIds: [bot.id] }]), topics: new Map() });
    expect(resolveRoute(at("gone"), others, none)).toEqual({ kind: "redirect", to: `/channel/${plan.id}`, notice: "not_in_channel" });
  });
  it("C42 a topic that was merged leads to the one its messages are in, to the message if one was named", () => {
    const merged = state({ merged: new Map([["old", start.id]]) });
    expect(resolveRoute(at("old"), merged, none)).toEqual({ kind: "redirect", to: `/channel/${plan.id}/topic/${start.id}`, notice: "topic_moved" });
    expect(resolveRoute(at("old", "m"), merged, none)).toEqual({ kind: "redirect", to: `/channel/${plan.id}/topic/${start.id}/message/m`, notice: "topic_moved" });
  });
  it("C42 a topic of another channel is not shown under this one", () => {
    const other = channel("other", [ann]);
    const both = state({ channels: byId([plan, other]) });
    expect(resolveRoute({ kind: "topic", channelId: other.id, topicId: start.id, messageId: undefined }, both, none)).toMatchObject({ kind: "redirect", notice: "no_topic" });
  });
  it("C42 what was just made is awaited", () => {
    const awaited = new Set(["fresh"]);
    expect(resolveRoute({ kind: "channel", channelId: "fresh" }, state(), awaited)).toEqual({ kind: "held" });
    expect(resolveRoute(at("fresh"), state(), awaited)).toEqual({ kind: "held" });
    expect(resolveRoute({ kind: "agent", agentId: "fresh" }, state(), awaited)).toEqual({ kind: "held" });
  });
});
