/** The wire's messages as the page's model. Absent is `undefined`, times and places are numbers, and nothing is guessed. */
import type * as pb from "../gen/compass/v1/comms_pb";
import { AgentPresence, ChannelGroupVisibility, ChannelKind, ChannelMembershipMode, ChannelPostPolicy, UserRole } from "../gen/compass/v1/comms_pb";
import type { MovedTopic, OpenAskEntry as PbOpenAskEntry } from "../gen/compass/v1/inbox_pb";
import type {
  Account, AccountId, Ask, AskEnd, AskOption, AskQuestion, Block, Channel, Group, Message, OpenAskEntry, Pin, Presence, PresenceState, ReadPosition,
  StreamEvent, StreamFrame, Topic, TopicId,
} from "../model/types";
import { wireText } from "../strings/wire";

/** Places and times are far below 2^53. */
const number = (value: bigint): number => Number(value);
const present = (text: string): string | undefined => (text === "" ? undefined : text);

/** The value, or an error that says what is missing. */
export const required = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new Error(wireText.missing(what));
  return value;
};

export const account = (from: pb.Account): Account => {
  const base = { id: from.id, handle: from.handle === "" ? from.id : from.handle, displayName: from.displayName };
  switch (from.kind.case) {
    case "agent": {
      const { ownerUserId, homeChannelId, parentAgentId } = from.kind.value;
      return { ...base, kind: "agent", ownerId: ownerUserId, homeChannelId: present(homeChannelId), parentId: present(parentAgentId) };
    }
    case "system":
      return { ...base, kind: "system" };
    case "user":
      return { ...base, kind: "user", admin: from.kind.value.role === UserRole.ADMIN };
    case undefined:
      // Of a kind the page does not know: somebody who can do nothing here.
      return { ...base, kind: "user", admin: false };
  }
};

export const group = (from: pb.ChannelGroup): Group => ({
  id: from.id, name: from.name, parentId: present(from.parentGroupId), ownerId: from.ownerUserId,
  shared: from.visibility === ChannelGroupVisibility.SHARED,
});

const pin = (from: pb.PinnedEntry): Pin => ({
  messageId: from.messageId, position: from.position, pinnedAt: number(from.pinnedAtUnixMs), pinnedBy: from.pinnedByAccountId,
});

const channelKind = (from: ChannelKind): Channel["kind"] => {
  if (from === ChannelKind.DM) return "dm";
  return from === ChannelKind.GROUP_DM ? "group_dm" : "channel";
};

export const channel = (from: pb.Channel): Channel => ({
  id: from.id, name: from.name, groupId: present(from.groupId), kind: channelKind(from.kind), memberIds: from.memberAccountIds,
  subscriberIds: from.subscriberAccountIds, ownerOnly: from.postPolicy === ChannelPostPolicy.OWNER_ONLY, ownerId: present(from.ownerAccountId),
  mandatory: from.mandatorySubscription, pins: from.pinnedEntries.map(pin),
  anchorId: from.membershipMode === ChannelMembershipMode.TREE ? present(from.anchorAgentId) : undefined,
});

export const topic = (from: pb.Topic): Topic => ({
  id: from.id, channelId: from.channelId, name: from.name, createdAt: number(from.createdAtUnixMs), createdBy: from.createdByAccountId,
  archived: from.archived, messageCount: number(from.messageCount), lastActivity: number(from.lastActivityUnixMs),
  participantIds: from.participantAccountIds, openAsks: from.openAskCount, braked: from.braked, lastSeq: number(from.lastChannelSeq),
});

export const position = (from: pb.ReadPosition): ReadPosition => ({
  topicId: from.topicId, seq: number(from.channelSeq), unread: from.unreadCount, countedTo: number(from.lastChannelSeq),
});

export const moved = (from: readonly MovedTopic[]): ReadonlyMap<TopicId, TopicId> => new Map(from.map(({ topicId, intoTopicId }) => [topicId, intoTopicId]));

const option = (from: pb.AskOption): AskOption => ({ id: from.id, label: from.label, description: from.description, preview: from.preview });

const question = (from: pb.AskQuestion): AskQuestion => ({
  id: from.questionId, question: from.question, header: from.header, options: from.options.map(option), multiple: from.allowMultiple,
  recommended: from.recommended !== undefined && from.options[from.recommended] !== undefined ? from.recommended : undefined,
  chosen: from.chosenOptionIds, customText: from.customText,
});

const end = (from: pb.Ask): AskEnd => {
  if (from.answered && from.cancelled) throw new Error(wireText.bothEnds(from.askId));
  const at = number(from.closedAtUnixMs);
  if (from.answered) return { kind: "answered", by: from.answeredByAccountId, at };
  return from.cancelled ? { kind: "cancelled", at } : { kind: "open" };
};

export const ask = (from: pb.Ask): Ask => ({ id: from.askId, questions: from.questions.map(question), end: end(from) });

const block = (from: pb.MessageBlock): Block => {
  switch (from.block.case) {
    case "text":
      return { kind: "text", text: from.block.value };
    case "ask":
      return { kind: "ask", ask: ask(from.block.value) };
    case "askAnswer":
      return from.block.value.ask ? { kind: "answer", ask: ask(from.block.value.ask), askerId: from.block.value.askerAccountId } : { kind: "unknown" };
    case undefined:
      return { kind: "unknown" };
  }
};

export const message = (from: pb.Message): Message => ({
  id: from.id, topicId: from.topicId, authorId: from.authorAccountId, at: number(from.atUnixMs), blocks: from.blocks.map(block), seq: number(from.channelSeq),
});

export const openAskEntry = (from: PbOpenAskEntry): OpenAskEntry => ({ message: message(required(from.message, "message")), channelId: from.channelId });

/** Undefined if the server does not say. A number the page does not know is an error, never a wrong dot. */
export const presenceState = (from: AgentPresence): PresenceState | undefined => {
  switch (from) {
    case AgentPresence.UNSPECIFIED:
      return undefined;
    case AgentPresence.IDLE:
      return "idle";
    case AgentPresence.WORKING:
      return "working";
    case AgentPresence.WAITING:
      return "waiting";
    case AgentPresence.OFFLINE:
      return "stopped";
    default:
      throw new Error(wireText.unknownPresence(from satisfies never));
  }
};

export const roster = (from: readonly pb.RosterEntry[]): ReadonlyMap<AccountId, Presence> =>
  new Map(
    from.flatMap((entry): [AccountId, Presence][] => {
      const state = presenceState(entry.presence);
      return state === undefined ? [] : [[entry.agentAccountId, { state, activity: entry.activity, activityAt: number(entry.activityAtUnixMs) }]];
    }),
  );

/** What a frame tells. One without a body tells nothing, and so does a payload the page does not know. */
const event = (from: pb.SubscribeCommsResponse): StreamEvent => {
  const { payload } = from;
  switch (payload.case) {
    case "messagePosted":
      return payload.value.message ? { kind: "message_posted", message: message(payload.value.message) } : { kind: "other" };
    case "messageUpdated":
      return payload.value.message ? { kind: "message_updated", message: message(payload.value.message) } : { kind: "other" };
    case "channelChanged":
      return payload.value.channel ? { kind: "channel_changed", channel: channel(payload.value.channel), removedIds: payload.value.removedAccountIds } : { kind: "other" };
    case "channelGroupChanged":
      return payload.value.group ? { kind: "group_changed", group: group(payload.value.group) } : { kind: "other" };
    case "accountChanged":
      return payload.value.account ? { kind: "account_changed", account: account(payload.value.account) } : { kind: "other" };
    case "topicUpserted":
      return payload.value.topic ? { kind: "topic_upserted", topic: topic(payload.value.topic) } : { kind: "other" };
    case "topicMerged":
      return payload.value.into ? { kind: "topic_merged", fromId: payload.value.fromTopicId, into: topic(payload.value.into) } : { kind: "other" };
    case "agentPresenceChanged":
      return { kind: "presence_changed", agentId: payload.value.agentAccountId, state: presenceState(payload.value.presence), activity: payload.value.activity };
    case "readPositionChanged":
      return { kind: "read_position_changed", position: position(payload.value) };
    case "resyncRequired":
      return { kind: "resync_required" };
    case undefined:
      return from.seq === 0n ? { kind: "boundary" } : { kind: "other" };
  }
};

/**
 * A frame of the stream. A payload that cannot be read is told to `report` and tells nothing; its place still counts,
 * or the same frame would come again for ever.
 */
export const frame = (from: pb.SubscribeCommsResponse, report: (error: unknown) => void): StreamFrame => {
  let told: StreamEvent;
  try {
    told = event(from);
  } catch (error) {
    report(error);
    told = { kind: "other" };
  }
  return {
    cursor: from.seq === 0n ? undefined : { kind: "tail", seq: from.seq, epoch: from.instanceEpoch },
    snapshot: told.kind === "boundary" ? { kind: "snapshot", value: from.snapshotSeq } : undefined,
    at: number(from.atUnixMs),
    event: told,
  };
};
