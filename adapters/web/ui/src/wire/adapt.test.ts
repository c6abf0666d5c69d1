// @vitest-environment node
import { create, fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import * as pb from "../gen/compass/v1/comms_pb";
import * as adapt from "./adapt";

const wireAsk = (change: Partial<Omit<pb.Ask, "$typeName" | "$unknown" | "questions">> = {}, questions: readonly { readonly recommended?: number; readonly options?: number }[] = [{}]) =>
  create(pb.AskSchema, {
    askId: "a",
    questions: questions.map(({ recommended, options = 2 }, index) => ({
      questionId: `q${index}`, question: "Which?", options: Array.from({ length: options }, (_, at) => ({ id: String(at), label: `L${at}` })),
      ...(recommended === undefined ? {} : { recommended }),
    })),
    ...change,
  });
const framed = (payload: pb.SubscribeCommsResponse["payload"], seq = 3n) => create(pb.SubscribeCommsResponseSchema, { seq, atUnixMs: 5n, instanceEpoch: 9n, snapshotSeq: 0n, payload });
/** Presence 9 of agent "1": a number that only a newer server would send. */
const strange = fromBinary(pb.AgentPresenceChangedSchema, new Uint8Array([0x0a, 1, 0x31, 0x10, 9]));
const quiet = (error: unknown): never => {
  throw error instanceof Error ? error : new Error(String(error));
};

describe("C14 adapters", () => {
  it("C14 accounts of each kind, with empty text as absent", () => {
    const base = { id: "1", handle: "h", displayName: "D" };
    const of = (kind: pb.Account["kind"]) => adapt.account(create(pb.AccountSchema, { ...base, kind }));
    expect(of({ case: "user", value: create(pb.UserAccountSchema, { role: pb.UserRole.ADMIN }) })).toEqual({ ...base, kind: "user", admin: true });
    expect(of({ case: "user", value: create(pb.UserAccountSchema) })).toEqual({ ...base, kind: "user", admin: false });
    expect(of({ case: "system", value: create(pb.SystemAccountSchema) })).toEqual({ ...base, kind: "system" });
    const agent = create(pb.AgentAccountSchema, { ownerUserId: "2", homeChannelId: "3", parentAgentId: "4" });
    expect(of({ case: "agent", value: agent })).toEqual({ ...base, kind: "agent", ownerId: "2", homeChannelId: "3", parentId: "4" });
    expect(of({ case: "agent", value: create(pb.AgentAccountSchema, { ownerUserId: "2" }) })).toMatchObject({ homeChannelId: undefined, parentId: undefined });
  });

  it("C14 a malformed account is somebody who can do nothing", () => {
    expect(adapt.account(create(pb.AccountSchema, { id: "1" }))).toEqual({ kind: "user", id: "1", handle: "1", displayName: "", admin: false });
  });

  it("C14 groups and channels with every enum", () => {
    expect(adapt.group(create(pb.ChannelGroupSchema, { id: "g", name: "G", ownerUserId: "1", visibility: pb.ChannelGroupVisibility.SHARED }))).toEqual({ id: "g", name: "G", parentId: undefined, ownerId: "1", shared: true });
    expect(adapt.group(create(pb.ChannelGroupSchema, { parentGroupId: "p" }))).toMatchObject({ parentId: "p", shared: false });
    const kinds = [pb.ChannelKind.CHANNEL, pb.ChannelKind.DM, pb.ChannelKind.GROUP_DM].map((kind) => adapt.channel(create(pb.ChannelSchema, { kind })).kind);
    expect(kinds).toEqual(["channel", "dm", "group_dm"]);
    const full = create(pb.ChannelSchema, {
      id: "c", name: "C", groupId: "g", memberAccountIds: ["1"], subscriberAccountIds: ["2"], postPolicy: pb.ChannelPostPolicy.OWNER_ONLY, ownerAccountId: "1", mandatorySubscription: true,
      pinnedEntries: [{ messageId: "m", position: 2, pinnedAtUnixMs: 7n, pinnedByAccountId: "1" }], membershipMode: pb.ChannelMembershipMode.TREE, anchorAgentId: "9",
    });
    expect(adapt.channel(full)).toEqual({
      id: "c", name: "C", groupId: "g", kind: "channel", memberIds: ["1"], subscriberIds: ["2"], ownerOnly: true, ownerId: "1", mandatory: true,
      pins: [{ messageId: "m", position: 2, pinnedAt: 7, pinnedBy: "1" }], anchorId: "9",
    });
    expect(adapt.channel(create(pb.ChannelSchema, { anchorAgentId: "9" }))).toMatchObject({ groupId: undefined, ownerId: undefined, ownerOnly: false, anchorId: undefined });
  });

  it("C14 big times and places are numbers", () => {
    const topic = create(pb.TopicSchema, {
      id: "t", channelId: "c", name: "T", createdAtUnixMs: 1_700_000_000_000n, createdByAccountId: "1", archived: true, messageCount: 3n, lastActivityUnixMs: 1_700_000_000_001n,
      participantAccountIds: ["1"], openAskCount: 2, braked: true, lastChannelSeq: 8n,
    });
    expect(adapt.topic(topic)).toEqual({
      id: "t", channelId: "c", name: "T", createdAt: 1_700_000_000_000, createdBy: "1", archived: true, messageCount: 3, lastActivity: 1_700_000_000_001,
      participantIds: ["1"], openAsks: 2, braked: true, lastSeq: 8,
    });
    expect(adapt.position(create(pb.ReadPositionSchema, { topicId: "t", channelSeq: 4n, unreadCount: 2, lastChannelSeq: 6n }))).toEqual({ topicId: "t", seq: 4, unread: 2, countedTo: 6 });
  });

  it("C14 an unknown block is kept as such, and the others in their order", () => {
    const blocks = [
      { block: { case: "text" as const, value: "one" } },
      {},
      { block: { case: "ask" as const, value: wireAsk() } },
      { block: { case: "askAnswer" as const, value: { ask: wireAsk({ answered: true, answeredByAccountId: "2", closedAtUnixMs: 9n }), askerAccountId: "3" } } },
      { block: { case: "askAnswer" as const, value: { askerAccountId: "3" } } },
    ];
    const message = adapt.message(create(pb.MessageSchema, { id: "m", topicId: "t", authorAccountId: "1", atUnixMs: 5n, channelSeq: 6n, blocks }));
    expect(message).toMatchObject({ id: "m", topicId: "t", authorId: "1", at: 5, seq: 6 });
    expect(message.blocks.map((block) => block.kind)).toEqual(["text", "unknown", "ask", "answer", "unknown"]);
    expect(message.blocks[3]).toMatchObject({ askerId: "3", ask: { end: { kind: "answered", by: "2", at: 9 } } });
  });

  it("C31 how an ask ended maps through, and both ends at once are an error", () => {
    expect(adapt.ask(wireAsk()).end).toEqual({ kind: "open" });
    expect(adapt.ask(wireAsk({ cancelled: true, closedAtUnixMs: 4n })).end).toEqual({ kind: "cancelled", at: 4 });
    expect(() => adapt.ask(wireAsk({ cancelled: true, answered: true }))).toThrow('ask "a" is both answered and cancelled');
  });

  it("C30 a recommendation counts only if it is the place of an option", () => {
    const asked = adapt.ask(wireAsk({}, [{ recommended: 1 }, { recommended: 2 }, { recommended: -1 }, {}, { recommended: 0, options: 0 }]));
    expect(asked.questions.map((question) => question.recommended)).toEqual([1, undefined, undefined, undefined, undefined]);
  });

  it("C15 presence by its words; nothing for unspecified; an error for a number that is not known", () => {
    const of = (presence: pb.AgentPresence) => adapt.presenceState(presence);
    const { IDLE, WORKING, WAITING, OFFLINE, UNSPECIFIED } = pb.AgentPresence;
    expect([IDLE, WORKING, WAITING, OFFLINE].map(of)).toEqual(["idle", "working", "waiting", "stopped"]);
    expect(of(UNSPECIFIED)).toBeUndefined();
    expect(() => of(strange.presence)).toThrow("presence 9");
    const entry = (agentAccountId: string, presence: pb.AgentPresence) => create(pb.RosterEntrySchema, { agentAccountId, presence, activity: "busy", activityAtUnixMs: 4n });
    expect([...adapt.roster([entry("1", WORKING), entry("2", UNSPECIFIED)])]).toEqual([["1", { state: "working", activity: "busy", activityAt: 4 }]]);
    expect(() => adapt.roster([entry("1", strange.presence)])).toThrow("presence 9");
  });
});

describe("frames", () => {
  const message = create(pb.MessageSchema, { id: "m" });
  const topic = create(pb.TopicSchema, { id: "t" });

  it("C14 each payload, and none where the body is missing", () => {
    const payloads: readonly (readonly [pb.SubscribeCommsResponse["payload"], string])[] = [
      [{ case: "messagePosted", value: create(pb.MessagePostedSchema, { message }) }, "message_posted"],
      [{ case: "messageUpdated", value: create(pb.MessageUpdatedSchema, { message }) }, "message_updated"],
      [{ case: "channelChanged", value: create(pb.ChannelChangedSchema, { channel: { id: "c" }, removedAccountIds: ["1"] }) }, "channel_changed"],
      [{ case: "channelGroupChanged", value: create(pb.ChannelGroupChangedSchema, { group: { id: "g" } }) }, "group_changed"],
      [{ case: "accountChanged", value: create(pb.AccountChangedSchema, { account: { id: "1" } }) }, "account_changed"],
      [{ case: "topicUpserted", value: create(pb.TopicUpsertedSchema, { topic }) }, "topic_upserted"],
      [{ case: "topicMerged", value: create(pb.TopicMergedSchema, { fromTopicId: "f", into: topic }) }, "topic_merged"],
      [{ case: "agentPresenceChanged", value: create(pb.AgentPresenceChangedSchema, { agentAccountId: "1", presence: pb.AgentPresence.WORKING }) }, "presence_changed"],
      [{ case: "readPositionChanged", value: create(pb.ReadPositionSchema, { topicId: "t" }) }, "read_position_changed"],
      [{ case: "resyncRequired", value: create(pb.CommsResyncRequiredSchema) }, "resync_required"],
      [{ case: undefined }, "other"],
      [{ case: "messagePosted", value: create(pb.MessagePostedSchema) }, "other"],
      [{ case: "messageUpdated", value: create(pb.MessageUpdatedSchema) }, "other"],
      [{ case: "channelChanged", value: create(pb.ChannelChangedSchema) }, "other"],
      [{ case: "channelGroupChanged", value: create(pb.ChannelGroupChangedSchema) }, "other"],
      [{ case: "accountChanged", value: create(pb.AccountChangedSchema) }, "other"],
      [{ case: "topicUpserted", value: create(pb.TopicUpsertedSchema) }, "other"],
      [{ case: "topicMerged", value: create(pb.TopicMergedSchema) }, "other"],
    ];
    for (const [payload, kind] of payloads) {
      const frame = adapt.frame(framed(payload), quiet);
      expect(frame.event.kind).toBe(kind);
      expect(frame).toMatchObject({ at: 5, cursor: { kind: "tail", seq: 3n, epoch: 9n }, snapshot: undefined });
    }
  });

  it("a boundary has a token and no place; lost events have neither", () => {
    const boundary = create(pb.SubscribeCommsResponseSchema, { snapshotSeq: 77n, instanceEpoch: 9n });
    expect(adapt.frame(boundary, quiet)).toEqual({ cursor: undefined, snapshot: { kind: "snapshot", value: 77n }, at: 0, event: { kind: "boundary" } });
    const lost = framed({ case: "resyncRequired", value: create(pb.CommsResyncRequiredSchema) }, 0n);
    expect(adapt.frame(lost, quiet)).toMatchObject({ cursor: undefined, snapshot: undefined });
  });

  it("C15 a frame that cannot be read is told to the funnel, and its place still counts", () => {
    const told: unknown[] = [];
    const odd = framed({ case: "agentPresenceChanged", value: strange });
    expect(adapt.frame(odd, (error) => told.push(error))).toMatchObject({ cursor: { seq: 3n }, event: { kind: "other" } });
    expect(told).toHaveLength(1);
  });
});
