/** What views read off the state: who is where, in which order, and what waits. Pure. */
import type { State } from "../store/contract";
import { takesPart } from "./account";
import type { Account, AccountId, Agent, Ask, AskId, Channel, ChannelId, Group, Message, OpenAskEntry, Pin, PresenceState, Topic, TopicId } from "./types";

/** Participants that a topic's row names before "+n". */
export const SHOWN_PARTICIPANTS = 5;

const collator = new Intl.Collator(undefined, { sensitivity: "base", numeric: true });
const byName = (a: { readonly name: string; readonly id: string }, b: { readonly name: string; readonly id: string }): number =>
  collator.compare(a.name, b.name) || compare(a.id, b.id);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export type Membership = "none" | "member" | "subscribed" | "mandatory" | "always";

/** How the person stands to a channel. `always`: it is some agent's home, whose messages reach it in any case. */
export const membership = (state: State, channel: Channel): Membership => {
  if (!takesPart(channel, state.me, state.accounts)) return "none";
  if (isHome(state, channel.id)) return "always";
  if (channel.mandatory) return "mandatory";
  return channel.subscriberIds.includes(state.me) ? "subscribed" : "member";
};

export const takesPartIn = (state: State, channelId: ChannelId): boolean => {
  const channel = state.channels.get(channelId);
  return channel !== undefined && takesPart(channel, state.me, state.accounts);
};

export const isHome = (state: State, channelId: ChannelId): boolean => {
  for (const account of state.accounts.values()) if (account.kind === "agent" && account.homeChannelId === channelId) return true;
  return false;
};

/** True if the person may post: takes part, and the channel is open or its own. An owner-only channel without an owner is nobody's. */
export const mayPost = (state: State, channel: Channel): "yes" | "not_member" | "owner_only" => {
  if (!takesPart(channel, state.me, state.accounts)) return "not_member";
  return channel.ownerOnly && channel.ownerId !== state.me ? "owner_only" : "yes";
};

export interface Rail {
  /** Groups in the server's order that hold a channel of the person's; then what stands in none. */
  readonly groups: readonly { readonly group: Group; readonly channels: readonly Channel[] }[];
  readonly ungrouped: readonly Channel[];
  readonly direct: readonly Channel[];
  /** Channels that the person sees and takes no part in. */
  readonly browse: readonly Channel[];
}

/** The same with the first `count` of the person's channels only: what is made first of a long column. */
export const beginning = (whole: Rail, count: number): Rail => {
  let left = count;
  const take = (channels: readonly Channel[]): readonly Channel[] => {
    const taken = channels.length <= left ? channels : channels.slice(0, left);
    left -= taken.length;
    return taken;
  };
  const groups = whole.groups.flatMap(({ group, channels }) => (left > 0 ? [{ group, channels: take(channels) }] : []));
  return { groups, ungrouped: take(whole.ungrouped), direct: take(whole.direct), browse: whole.browse };
};

/** How many channels the person has in the left column. */
export const railLength = ({ groups, ungrouped, direct }: Rail): number => groups.reduce((sum, { channels }) => sum + channels.length, ungrouped.length + direct.length);

/** The left column's channels, each in exactly one place. */
export const rail = (state: Pick<State, "me" | "accounts" | "channels" | "groups">): Rail => {
  const grouped = new Map<string, Channel[]>();
  const [ungrouped, direct, browse]: [Channel[], Channel[], Channel[]] = [[], [], []];
  for (const channel of [...state.channels.values()].sort(byName)) {
    if (!takesPart(channel, state.me, state.accounts)) browse.push(channel);
    else if (channel.kind !== "channel") direct.push(channel);
    else if (channel.groupId === undefined || !state.groups.has(channel.groupId)) ungrouped.push(channel);
    else grouped.set(channel.groupId, [...(grouped.get(channel.groupId) ?? []), channel]);
  }
  const groups = [...state.groups.values()].flatMap((group) => {
    const channels = grouped.get(group.id);
    return channels ? [{ group, channels }] : [];
  });
  return { groups, ungrouped, direct, browse };
};

export const handleOf = (state: Pick<State, "accounts">, id: AccountId): string => state.accounts.get(id)?.handle ?? id;

/** What a channel is called: a conversation of few by the other handles, everything else by its name. */
export const channelLabel = (state: Pick<State, "me" | "accounts">, channel: Channel): string => {
  if (channel.kind === "channel") return channel.name;
  const others = channel.memberIds.filter((id) => id !== state.me).map((id) => handleOf(state, id));
  return others.length === 0 ? channel.name : others.sort(compare).join(", ");
};

/** The group that a channel is in, as far as the person sees it. */
export const groupOf = (state: Pick<State, "groups">, channel: Channel): Group | undefined => (channel.groupId === undefined ? undefined : state.groups.get(channel.groupId));

/** Latest activity first, ties by id. */
export const newestFirst = (a: Topic, b: Topic): number => activity(b) - activity(a) || compare(a.id, b.id);
const activity = (topic: Topic): number => (topic.messageCount === 0 ? topic.createdAt : topic.lastActivity);

/** Topics of a channel, the latest first; archived ones only if asked for. */
export const topicsOf = (state: State, channelId: ChannelId, archived = false): readonly Topic[] =>
  [...state.topics.values()].filter((topic) => topic.channelId === channelId && topic.archived === archived).sort(newestFirst);

export const unreadOf = (state: Pick<State, "positions">, topicId: TopicId): number => state.positions.get(topicId)?.unread ?? 0;

export const unreadTotal = (state: State): number => {
  let sum = 0;
  for (const topic of state.topics.values()) if (!topic.archived) sum += unreadOf(state, topic.id);
  return sum;
};

/** Where the messages of a topic are now, after any number of merges. */
export const topicNow = (state: State, topicId: TopicId): TopicId => state.merged.get(topicId) ?? topicId;

export interface Waiting {
  readonly ask: Ask;
  readonly message: Message;
  readonly channelId: ChannelId;
}

/** Open asks across all channels, oldest first, in the order they were posted. */
export const inbox = (state: State): readonly Waiting[] =>
  [...state.openAsks].flatMap(([askId, entry]) => waiting(askId, entry)).sort(byPosting);

export const byPosting = (a: Waiting, b: Waiting): number => a.message.at - b.message.at || compare(a.channelId, b.channelId) || a.message.seq - b.message.seq;

const waiting = (askId: string, entry: OpenAskEntry): readonly Waiting[] =>
  entry.message.blocks.flatMap((block) => (block.kind === "ask" && block.ask.id === askId ? [{ ask: block.ask, message: entry.message, channelId: entry.channelId }] : []));

/** The latest version of an ask that the page has, and the message that holds it; undefined if it has none. */
export const askById = (state: State, askId: AskId): { readonly ask: Ask; readonly message: Message } | undefined => {
  // Open asks are in the inbox and those seen to end are kept; only what is in neither has to be looked for.
  const known = askIn(state.openAsks.get(askId)?.message, askId) ?? askIn(state.endedAsks.get(askId)?.message, askId);
  if (known) return known;
  for (const window of state.windows.values())
    for (const message of window.messages) {
      const found = askIn(message, askId);
      if (found) return found;
    }
  return undefined;
};

const askIn = (message: Message | undefined, askId: AskId): { readonly ask: Ask; readonly message: Message } | undefined => {
  for (const block of message?.blocks ?? []) if (message && block.kind === "ask" && block.ask.id === askId) return { ask: block.ask, message };
  return undefined;
};

/** An agent nobody has seen is stopped. */
export const presenceOf = (state: State, agentId: AccountId): PresenceState => state.presence.get(agentId)?.state ?? "stopped";

/** What an agent says it is doing, "" if nothing: one that is offline does nothing, whatever it said last. */
export const activityOf = (state: State, agentId: AccountId): string => (presenceOf(state, agentId) === "stopped" ? "" : (state.presence.get(agentId)?.activity ?? ""));

export const agents = (state: Pick<State, "accounts">): readonly Agent[] =>
  [...state.accounts.values()].flatMap((account: Account) => (account.kind === "agent" ? [account] : [])).sort((a, b) => collator.compare(a.handle, b.handle) || compare(a.id, b.id));

export interface AgentNode {
  readonly agent: Agent;
  readonly children: readonly AgentNode[];
  /** Everyone below it. */
  readonly descendants: number;
}

const withChildren = (agent: Agent, children: readonly AgentNode[]): AgentNode => ({ agent, children, descendants: children.reduce((sum, child) => sum + 1 + child.descendants, 0) });

/** Agents by who stands below whom. One whose parent is not seen is a root; so is one member of a circle. */
export const agentTree = (state: Pick<State, "accounts">): readonly AgentNode[] => {
  const all = agents(state);
  const known = new Set(all.map((each) => each.id));
  const placed = new Set<AccountId>();
  const node = (agent: Agent): AgentNode => {
    placed.add(agent.id);
    const children = all.filter((each) => each.parentId === agent.id && !placed.has(each.id)).map(node);
    return withChildren(agent, children);
  };
  const roots = all.filter((each) => each.parentId === undefined || !known.has(each.parentId)).map(node);
  const circles = all.flatMap((each) => (placed.has(each.id) ? [] : [node(each)]));
  return [...roots, ...circles];
};

/** The tree without those who are pinned, and so listed already, unless it holds somebody below them. */
export const besidePins = (nodes: readonly AgentNode[], pinned: ReadonlySet<AccountId>): readonly AgentNode[] =>
  nodes.flatMap(({ agent, children: all }) => {
    const children = besidePins(all, pinned);
    return pinned.has(agent.id) && children.length === 0 ? [] : [withChildren(agent, children)];
  });

export interface PinnedEntry {
  readonly pin: Pin;
  readonly message: Message;
}

/** A channel's board in its order; entries whose message is neither loaded nor among what was read for the board are left out. */
export const pinnedBoard = (state: State, channel: Channel, read: readonly Message[]): readonly PinnedEntry[] =>
  [...channel.pins].sort((a, b) => a.position - b.position || compare(a.messageId, b.messageId)).flatMap((pin) => {
    const message = messageById(state, pin.messageId) ?? read.find((each) => each.id === pin.messageId);
    return message ? [{ pin, message: { ...message, topicId: topicNow(state, message.topicId) } }] : [];
  });

export const messageById = (state: State, id: string): Message | undefined => {
  for (const window of state.windows.values()) {
    const found = window.messages.find((message) => message.id === id);
    if (found) return found;
  }
  for (const entry of state.openAsks.values()) if (entry.message.id === id) return entry.message;
  return undefined;
};

/** Up to five of a topic's participants by handle, and how many accounts the channel's topics list beyond them. */
export const participants = (state: State, topic: Topic): readonly string[] => topic.participantIds.slice(0, SHOWN_PARTICIPANTS).map((id) => handleOf(state, id));

export type Link =
  | { readonly kind: "held" }
  | { readonly kind: "found"; readonly channelId: ChannelId; readonly topicId: TopicId | undefined }
  /** The topic is gone and the channel is not; its messages, if they moved, are in `movedTo`. */
  | { readonly kind: "topic_gone"; readonly channelId: ChannelId; readonly movedTo: TopicId | undefined }
  | { readonly kind: "channel_gone" };

/** What a deep link leads to: unknown ids are held until the first snapshot, then found or sent to the nearest thing there is. */
export const resolveLink = (state: State, channelId: ChannelId, topicId: TopicId | undefined): Link => {
  if (!state.ready) return { kind: "held" };
  if (!state.channels.has(channelId)) return { kind: "channel_gone" };
  if (topicId === undefined) return { kind: "found", channelId, topicId: undefined };
  const now = topicNow(state, topicId);
  const topic = state.topics.get(now);
  if (topic?.channelId !== channelId) return { kind: "topic_gone", channelId, movedTo: undefined };
  return now === topicId ? { kind: "found", channelId, topicId } : { kind: "topic_gone", channelId, movedTo: now };
};
