/** Reads what there is: everything at the start and after lost events, and who takes part where when that may have changed. */
import { takesPart } from "../model/account";
import type { ChannelTopics, Client } from "../model/client";
import { takesPartIn } from "../model/select";
import type {
  Account, AskId, Channel, ChannelId, Message, MessageId, OpenAskEntry, ReadPosition, SnapshotToken, StreamEvent, Topic, TopicId,
} from "../model/types";
import type { MessageWindow, State } from "../store/contract";
import { reachOf } from "./counting";
import { union } from "./messages";
import { dropped, emptyState, withAsks } from "./reducer";
import { PAGE } from "./windows";

/** Reads that are on their way at once. */
export const IN_FLIGHT = 8;
/** Channels whose topics are read at once; the server takes up to a hundred. */
export const CHANNELS_A_READ = 50;
/** Pages of a topic that are read again after lost events, so that a person who has scrolled up stays there. */
const REREAD_PAGES = 10;

type Run = <T>(read: () => Promise<T>) => Promise<T>;

/** Lets at most `limit` reads run at once. */
export const limited = (limit: number): Run => {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (read) => {
    while (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await read();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
};

const byId = <T extends { readonly id: string }>(all: readonly T[]): ReadonlyMap<string, T> => new Map(all.map((each) => [each.id, each]));

const positionsOf = (all: readonly ReadPosition[]): ReadonlyMap<TopicId, ReadPosition> => new Map(all.map((each) => [each.topicId, each]));

/** Pages until a page is empty: a short one is not the last, since a page also ends at a size. */
const allOpenAsks = async (client: Client, run: Run, channelId: ChannelId | undefined, signal: AbortSignal): Promise<readonly OpenAskEntry[]> => {
  const found: OpenAskEntry[] = [];
  let before: MessageId | undefined;
  for (;;) {
    const cursor = before;
    const page = await run(() => client.listOpenAsks({ before: cursor, channelId }, signal));
    const last = page.at(-1);
    if (!last) return found;
    found.push(...page);
    before = last.message.id;
  }
};

/** Entries by the asks in them that are open. */
const openAsksOf = (entries: readonly OpenAskEntry[]): ReadonlyMap<AskId, OpenAskEntry> =>
  new Map(entries.flatMap((entry) => entry.message.blocks.flatMap((block): [AskId, OpenAskEntry][] => (block.kind === "ask" && block.ask.end.kind === "open" ? [[block.ask.id, entry]] : []))));

/** Topics of channels, archived ones too, so that every message that is told has one. */
const topicsOf = async (client: Client, run: Run, channelIds: readonly ChannelId[], signal: AbortSignal): Promise<ChannelTopics> => {
  const parts = Array.from({ length: Math.ceil(channelIds.length / CHANNELS_A_READ) }, (_, part) => channelIds.slice(part * CHANNELS_A_READ, (part + 1) * CHANNELS_A_READ));
  const read = await Promise.all(parts.map((part) => run(() => client.listTopics(part, signal))));
  return { topics: read.flatMap((each) => each.topics), positions: read.flatMap((each) => each.positions), moved: new Map(read.flatMap((each) => [...each.moved])) };
};

/** The newest messages of a topic, down to where the window reached before. */
const windowOf = async (client: Client, run: Run, topic: Topic, before: MessageWindow, token: SnapshotToken, signal: AbortSignal): Promise<MessageWindow> => {
  const reached = before.messages[0]?.seq ?? Number.POSITIVE_INFINITY;
  let messages: readonly Message[] = [];
  for (let pages = 0; pages < REREAD_PAGES; pages += 1) {
    const cursor = messages[0]?.id;
    const page = await run(() => client.listMessages({ channelId: topic.channelId, topicId: topic.id, before: cursor, limit: PAGE, snapshot: token }, signal));
    if (page.length === 0) return { messages, gapless: true, complete: true, loading: "none", error: undefined };
    messages = union(page, messages);
    if ((messages[0]?.seq ?? 0) <= reached) break;
  }
  return { messages, gapless: true, complete: false, loading: "none", error: undefined };
};

/**
 * Everything, read with the token of the stream's boundary. Of the state that is replaced only the person, the asks seen
 * to end and which windows stand open are taken over, the latter two as of when topics are known. One failed read fails
 * it all.
 *
 * At the very start `early` gets what waits for an answer before the topics are read, which are many: a state that is
 * not ready, and that the result replaces.
 */
export const readSnapshot = async (client: Client, current: () => State, token: SnapshotToken, signal: AbortSignal, early: (state: State) => void): Promise<State> => {
  const run = limited(IN_FLIGHT);
  const isCold = !current().ready;
  const [accounts, groups, channels, presence, waiting] = await Promise.all([
    run(() => client.listAccounts(token, signal)),
    run(() => client.listGroups(token, signal)),
    run(() => client.listChannels(token, signal)),
    run(() => client.roster(signal)),
    isCold ? allOpenAsks(client, run, undefined, signal) : [],
  ]);
  const known = byId<Account>(accounts);
  if (isCold && waiting.length > 0) {
    const first = { ...emptyState(current().me), accounts: known, groups: byId(groups), channels: byId<Channel>(channels), presence };
    early({ ...first, openAsks: openAsksOf(waiting), windows: current().windows });
  }
  const mine = channels.filter((channel) => takesPart(channel, current().me, known));
  const listed = await topicsOf(client, run, mine.map((channel) => channel.id), signal);
  const topics = byId<Topic>(listed.topics);
  // Asks after topics: then an ask of a message that the topics count and the asks do not hold is closed (rule 4 of counting).
  const [asks, ...windows] = await Promise.all([
    allOpenAsks(client, run, undefined, signal),
    ...[...current().windows].flatMap(([id, window]) => {
      const topic = topics.get(id);
      return topic ? [windowOf(client, run, topic, window, token, signal).then((read): [TopicId, MessageWindow] => [id, read])] : [];
    }),
  ]);
  const state: State = {
    ...emptyState(current().me),
    accounts: known,
    groups: byId(groups),
    channels: byId<Channel>(channels),
    topics,
    reach: reachOf(topics.values()),
    presence,
    // An ask that has ended stays ended; those of channels that are lost are not ours to show.
    endedAsks: new Map([...current().endedAsks].filter(([, entry]) => mine.some((channel) => channel.id === entry.channelId))),
    positions: positionsOf(listed.positions),
    merged: listed.moved,
    // A window that was opened meanwhile has a read of its own on its way.
    windows: new Map([...[...current().windows].filter(([id]) => topics.has(id)), ...windows]),
    ready: true,
  };
  return withAsks(state, openAsksOf(asks), new Set(topics.keys()));
};

/**
 * Who takes part where, and what is in the channels that the person came into. So is what is in those that `told` says
 * the person was out of: what was said there meanwhile was not told. Gives what all that makes of a state.
 */
export const readMembership = async (client: Client, before: State, told: readonly StreamEvent[], token: SnapshotToken, signal: AbortSignal): Promise<MembershipRead> => {
  const run = limited(IN_FLIGHT);
  const [listed, groups, channels, presence] = await Promise.all([
    run(() => client.listAccounts(token, signal)),
    run(() => client.listGroups(token, signal)),
    run(() => client.listChannels(token, signal)),
    run(() => client.roster(signal)),
  ]);
  const accounts = new Map([...before.accounts, ...byId<Account>(listed)]);
  const mine = new Set(channels.filter((channel) => takesPart(channel, before.me, accounts)).map((channel) => channel.id));
  const lost = [...before.channels.keys()].filter((id) => takesPartIn(before, id) && !mine.has(id));
  const left = new Set(told.flatMap((event) => (event.kind === "channel_changed" && !takesPart(event.channel, before.me, accounts) ? [event.channel.id] : [])));
  const anew = [...mine].filter((id) => left.has(id) || !takesPartIn(before, id));
  const { topics, positions, moved } = await topicsOf(client, run, anew, signal);
  const asks = await Promise.all(anew.map((id) => allOpenAsks(client, run, id, signal)));
  const topicIds = topics.map((topic) => topic.id);
  const put = (state: State): State => {
    const kept = lost.reduce((rest, id) => dropped(rest, id), state);
    const bare = anew.reduce((rest, id) => dropped(rest, id), kept);
    const { windows, endedAsks } = kept;
    const loaded: State = {
      ...bare, accounts, presence, windows, endedAsks,
      groups: byId(groups),
      channels: byId<Channel>(channels),
      topics: new Map([...bare.topics, ...byId<Topic>(topics)]),
      reach: new Map([...bare.reach, ...reachOf(topics)]),
      positions: new Map([...bare.positions, ...positionsOf(positions)]),
      merged: new Map([...bare.merged, ...moved]),
    };
    return withAsks(loaded, new Map([...bare.openAsks, ...openAsksOf(asks.flat())]), new Set(topicIds));
  };
  return { put, topicIds };
};

export interface MembershipRead {
  readonly put: (state: State) => State;
  /** Topics that were read anew. */
  readonly topicIds: readonly TopicId[];
}
