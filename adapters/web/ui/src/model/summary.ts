/** What the left column says of each channel. Pure; one pass over all topics, however many channels there are. */
import type { State } from "../store/contract";
import { newestFirst, unreadOf } from "./select";
import type { ChannelId, Topic } from "./types";

/** Topics that a channel's row in the left column lists. */
export const RECENT_TOPICS = 3;

export interface ChannelSummary {
  /** Unread messages in topics that are not archived. */
  readonly unread: number;
  readonly openAsks: number;
  /** The topics that moved last, without archived ones. */
  readonly recent: readonly Topic[];
}

export type Summaries = ReadonlyMap<ChannelId, ChannelSummary>;

/** A channel in which there is nothing. */
export const NOTHING: ChannelSummary = { unread: 0, openAsks: 0, recent: [] };

/** By channel; one without topics and asks is left out. A summary that says the same as `before` is the same object. */
export const summaries = (state: Pick<State, "topics" | "positions" | "openAsks">, before: Summaries = new Map()): Summaries => {
  const found = new Map<ChannelId, { unread: number; openAsks: number; recent: Topic[] }>();
  const of = (id: ChannelId) => {
    const known = found.get(id);
    if (known) return known;
    const made = { unread: 0, openAsks: 0, recent: [] };
    found.set(id, made);
    return made;
  };
  for (const topic of state.topics.values()) {
    if (topic.archived) continue;
    const summary = of(topic.channelId);
    summary.unread += unreadOf(state, topic.id);
    insert(summary.recent, topic);
  }
  for (const entry of state.openAsks.values()) of(entry.channelId).openAsks += 1;
  return new Map([...found].map(([id, now]) => [id, unlessSame(before.get(id), now)]));
};

/** Keeps the few latest, in order. */
const insert = (recent: Topic[], topic: Topic): void => {
  const at = recent.findIndex((each) => newestFirst(topic, each) < 0);
  recent.splice(at < 0 ? recent.length : at, 0, topic);
  if (recent.length > RECENT_TOPICS) recent.pop();
};

const unlessSame = (before: ChannelSummary | undefined, now: ChannelSummary): ChannelSummary => {
  const same = before?.unread === now.unread && before.openAsks === now.openAsks && before.recent.length === now.recent.length;
  return same && before.recent.every((topic, index) => topic === now.recent[index]) ? before : now;
};
