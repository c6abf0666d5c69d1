/** What an event of the stream makes of the state. Pure: the input is left alone, and what an event does not touch is shared. */
import { takesPart } from "../model/account";
import { takesPartIn, topicNow } from "../model/select";
import type {
  Account, AccountId, Ask, AskId, Channel, ChannelId, Message, OpenAskEntry, Presence, ReadPosition, StreamEvent, Topic, TopicId,
} from "../model/types";
import type { State } from "../store/contract";
import { countMessage, countUnread, joinPositions, joinTopics, newerPosition, newerTopic } from "./counting";
import { newerMessage } from "./messages";
import * as windows from "./windows";

/** What has to be read because of an event. */
export interface Wants {
  /**
   * By what was told the person came into a channel or left one. What is told may be older than what was read, so it is
   * not believed: who takes part where is read.
   */
  readonly moved: boolean;
  /** Topics whose newest messages have to be read again. */
  readonly reload: readonly TopicId[];
}

export interface Reduced extends Wants {
  readonly state: State;
}

const nothing: Wants = { moved: false, reload: [] };
const only = (state: State): Reduced => ({ state, ...nothing });

/** Ended asks that are kept; the one that ended longest ago goes first. */
export const KEPT_ENDED = 200;

export const emptyState = (me: AccountId): State => ({
  me, accounts: new Map(), groups: new Map(), channels: new Map(), topics: new Map(), presence: new Map(), windows: new Map(),
  openAsks: new Map(), endedAsks: new Map(), positions: new Map(), merged: new Map(), reach: new Map(), ready: false,
});

const put = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> => (map.get(key) === value ? map : new Map(map).set(key, value));

/** The map without the keys; the same map if it has none of them. */
const without = <K, V>(map: ReadonlyMap<K, V>, gone: (key: K, value: V) => boolean): ReadonlyMap<K, V> => {
  const kept = [...map].filter(([key, value]) => !gone(key, value));
  return kept.length === map.size ? map : new Map(kept);
};

/** `at` is when the server told the event, in ms. */
export const reduce = (state: State, event: StreamEvent, at: number): Reduced => {
  switch (event.kind) {
    case "message_posted":
    case "message_updated":
      return only(onMessage(state, event.message));
    case "topic_upserted":
      return only(onTopic(state, event.topic));
    case "topic_merged":
      return onMerge(state, event.fromId, event.into);
    case "read_position_changed":
      return only(onPosition(state, event.position));
    case "channel_changed":
      return onChannel(state, event.channel, event.removedIds);
    case "group_changed":
      return only({ ...state, groups: put(state.groups, event.group.id, event.group) });
    case "account_changed":
      return onAccount(state, event.account);
    case "presence_changed":
      return only(event.state === undefined ? state : onPresence(state, event.agentId, { state: event.state, activity: event.activity, activityAt: at }));
    case "boundary":
    case "resync_required":
    case "other":
      return only(state);
  }
};

const onMessage = (state: State, told: Message): State => {
  const topicId = topicNow(state, told.topicId);
  const message = topicId === told.topicId ? told : { ...told, topicId };
  const topic = state.topics.get(topicId);
  // A topic that is not ours to see or was joined to another before we looked; what closes is closed all the same.
  if (!topic) return followAsks(state, message, undefined);
  const isNew = message.seq > (state.reach.get(topic.channelId) ?? 0);
  const counted: State = {
    ...state,
    topics: put(state.topics, topicId, countMessage(topic, message)),
    positions: unread(state, message),
    reach: isNew ? put(state.reach, topic.channelId, message.seq) : state.reach,
  };
  const placed = windows.toldTo(unchanged(state, counted) ? state : counted, message, isNew);
  return followAsks(placed, message, isNew ? topic.channelId : undefined);
};

const unchanged = (before: State, after: State): boolean => before.topics === after.topics && before.positions === after.positions && before.reach === after.reach;

const unread = (state: State, message: Message): ReadonlyMap<TopicId, ReadPosition> =>
  put(state.positions, message.topicId, countUnread(state.positions.get(message.topicId), message, state.me));

/** Brings open asks in line with a message; `newIn` is the channel of a message that it did not reach to yet. */
const followAsks = (state: State, message: Message, newIn: ChannelId | undefined): State => {
  let asks: Map<AskId, OpenAskEntry> | undefined;
  let { endedAsks } = state;
  for (const block of message.blocks) {
    if (block.kind !== "ask") continue;
    const entry = state.openAsks.get(block.ask.id);
    const channelId = entry?.channelId ?? newIn;
    if (block.ask.end.kind !== "open") {
      if (!entry) continue;
      (asks ??= new Map(state.openAsks)).delete(block.ask.id);
      endedAsks = withEnded(endedAsks, block.ask.id, { message, channelId: entry.channelId });
    } else if (channelId !== undefined && isOpen(state, message, block.ask)) {
      const version = entry ? newerMessage(entry.message, { ...message, topicId: entry.message.topicId }) : message;
      (asks ??= new Map(state.openAsks)).set(block.ask.id, { message: version, channelId });
    }
  }
  return asks ? { ...withAsks(state, asks, new Set([message.topicId])), endedAsks } : state;
};

const withEnded = (ended: State["endedAsks"], askId: AskId, entry: OpenAskEntry): State["endedAsks"] => {
  const all: (readonly [AskId, OpenAskEntry])[] = [...ended, [askId, entry]];
  return new Map(all.slice(-KEPT_ENDED));
};

/** False if a version of the message that is loaded knows better. */
const isOpen = (state: State, message: Message, ask: Ask): boolean => {
  const loaded = state.windows.get(message.topicId)?.messages.find((each) => each.id === message.id);
  return loaded?.blocks.every((block) => block.kind !== "ask" || block.ask.id !== ask.id || block.ask.end.kind === "open") ?? true;
};

/** The state with these open asks, and with the topics' numbers of them (rule 4 of counting). */
export const withAsks = (state: State, openAsks: ReadonlyMap<AskId, OpenAskEntry>, touched: ReadonlySet<TopicId>): State => {
  let { topics } = state;
  for (const id of touched) {
    const topic = topics.get(id);
    if (!topic) continue;
    let count = 0;
    for (const entry of openAsks.values()) if (entry.message.topicId === id) count += 1;
    if (topic.openAsks !== count) topics = put(topics, id, { ...topic, openAsks: count });
  }
  return { ...state, openAsks, topics };
};

const onTopic = (state: State, told: Topic): State => {
  const ours = state.topics.get(told.id);
  if (ours) return { ...state, topics: put(state.topics, told.id, newerTopic(ours, told)) };
  const mine = takesPartIn(state, told.channelId);
  // Rule 5 of counting: what reaches no further than its channel was joined to another topic before we looked.
  if (!mine || told.lastSeq <= (state.reach.get(told.channelId) ?? 0)) return state;
  return { ...state, topics: put(state.topics, told.id, { ...told, openAsks: 0 }), positions: put(state.positions, told.id, { topicId: told.id, seq: 0, unread: 0, countedTo: 0 }) };
};

const onMerge = (state: State, fromId: TopicId, told: Topic): Reduced => {
  const [from, into] = [state.topics.get(fromId), state.topics.get(told.id)];
  if (!from && !into && (!takesPartIn(state, told.channelId) || told.lastSeq <= (state.reach.get(told.channelId) ?? 0))) return only(state);
  const topics = new Map(state.topics);
  topics.delete(fromId);
  topics.set(told.id, joinTopics(from, into, told));
  const positions = new Map(state.positions);
  positions.delete(fromId);
  if (from) {
    const joined = joinPositions({ topic: from, position: state.positions.get(fromId) }, { topic: into ?? told, position: state.positions.get(told.id) });
    positions.set(told.id, joined);
  }
  const openAsks = new Map(
    [...state.openAsks].map(([id, entry]): [AskId, OpenAskEntry] => (entry.message.topicId === fromId ? [id, { ...entry, message: { ...entry.message, topicId: told.id } }] : [id, entry])),
  );
  const moved = windows.joined(state, from, fromId, told.id);
  // What was joined to this one before goes on with it, so that one step leads to where the messages are.
  const merged = new Map([...state.merged].map(([id, at]) => [id, at === fromId ? told.id : at])).set(fromId, told.id);
  const joined = withAsks({ ...moved.state, topics, positions, merged }, openAsks, new Set([told.id]));
  return { state: joined, moved: false, reload: moved.reload ? [told.id] : [] };
};

const onPosition = (state: State, told: ReadPosition): State => {
  if (!state.topics.has(told.topicId)) return state;
  return { ...state, positions: put(state.positions, told.topicId, newerPosition(state.positions.get(told.topicId), told)) };
};

const onPresence = (state: State, agentId: AccountId, told: Presence): State => {
  // A change of presence says nothing about the activity, which stays what the agent last said.
  const before = state.presence.get(agentId);
  const presence = told.activity === "" ? { state: told.state, activity: before?.activity ?? "", activityAt: before?.activityAt ?? 0 } : told;
  return { ...state, presence: put(state.presence, agentId, presence) };
};

const onAccount = (state: State, account: Account): Reduced => {
  const after = { ...state, accounts: put(state.accounts, account.id, account) };
  const moved = [...state.channels.keys()].some((id) => takesPartIn(state, id) !== takesPartIn(after, id));
  return moved ? { state, moved, reload: [] } : only(after);
};

const onChannel = (state: State, channel: Channel, removedIds: readonly AccountId[]): Reduced => {
  if (takesPart(channel, state.me, state.accounts) !== takesPartIn(state, channel.id)) return { state, moved: true, reload: [] };
  // Told to whoever was put out, and not theirs to see.
  if (removedIds.includes(state.me) && !state.channels.has(channel.id)) return only(state);
  return only({ ...state, channels: put(state.channels, channel.id, channel) });
};

/** The state without what is in a channel: topics and what was joined to them, windows, positions and asks. */
export const dropped = (state: State, channelId: ChannelId): State => {
  const ids = new Set([...state.topics.values()].filter((topic) => topic.channelId === channelId).map((topic) => topic.id));
  return {
    ...state,
    reach: without(state.reach, (id) => id === channelId),
    topics: without(state.topics, (id) => ids.has(id)),
    windows: without(state.windows, (id) => ids.has(id)),
    positions: without(state.positions, (id) => ids.has(id)),
    merged: without(state.merged, (_, into) => ids.has(into)),
    openAsks: without(state.openAsks, (_, entry) => entry.channelId === channelId),
    endedAsks: without(state.endedAsks, (_, entry) => entry.channelId === channelId),
  };
};
