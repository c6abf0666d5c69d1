/** The loaded parts of topics: the newest messages down to some place, without a gap once the newest page was read. Pure. */
import type { Message, Topic, TopicId } from "../model/types";
import type { MessageWindow, State } from "../store/contract";
import { newerMessage, union, upsert } from "./messages";

/** Messages a page of a topic holds. */
export const PAGE = 50;
/** Windows that are kept; the one that was opened longest ago goes first. */
export const KEPT_WINDOWS = 12;

const empty: MessageWindow = { messages: [], gapless: false, complete: false, loading: "newest", error: undefined };

const put = (state: State, topicId: TopicId, window: MessageWindow): State => ({ ...state, windows: new Map(state.windows).set(topicId, window) });

/** True if the newest page has to be read: it is not here and not on its way. */
export const needsNewest = (state: State, topicId: TopicId): boolean => {
  const window = state.windows.get(topicId);
  return window === undefined || (!window.gapless && window.loading === "none");
};

/** Opens a window, or moves it to the end of those that may be given up. */
export const opened = (state: State, topicId: TopicId): State => {
  const windows = new Map(state.windows);
  const window = windows.get(topicId);
  windows.delete(topicId);
  windows.set(topicId, window ?? empty);
  for (const each of windows.keys()) {
    if (windows.size <= KEPT_WINDOWS) break;
    windows.delete(each);
  }
  const after = { ...state, windows };
  return needsNewest(after, topicId) ? reloading(after, topicId) : after;
};

/** Marks a window whose newest messages have to be read again; what it shows stays until they are here. */
export const reloading = (state: State, topicId: TopicId): State => put(state, topicId, { ...(state.windows.get(topicId) ?? empty), gapless: false, loading: "newest", error: undefined });

/** The newest page is here. Messages told while it was on its way are kept; what it does not join on to is not. */
export const newestRead = (state: State, topicId: TopicId, page: readonly Message[], told: readonly Message[]): State => {
  const window = state.windows.get(topicId);
  if (!window) return state;
  // A version that an event brought meanwhile may know more than the page.
  const known = new Map(window.messages.map((message) => [message.id, message]));
  const messages = page.map((message) => {
    const ours = known.get(message.id);
    return ours ? newerMessage(ours, message) : message;
  });
  return put(state, topicId, { messages: union(messages, told), gapless: true, complete: page.length === 0, loading: "none", error: undefined });
};

export const olderLoading = (state: State, topicId: TopicId): State => {
  const window = state.windows.get(topicId);
  return window ? put(state, topicId, { ...window, loading: "older", error: undefined }) : state;
};

/** A page of what is older than `before` is here. An empty page, and nothing else, says that there is no more. */
export const olderRead = (state: State, topicId: TopicId, before: string, page: readonly Message[]): State => {
  const window = state.windows.get(topicId);
  // The window was read anew or joined meanwhile: the page does not join on to it any more.
  if (window?.messages[0]?.id !== before) return window?.loading === "older" ? put(state, topicId, { ...window, loading: "none" }) : state;
  return put(state, topicId, { ...window, messages: union(page, window.messages), complete: page.length === 0, loading: "none", error: undefined });
};

/** Nothing is on its way any more. */
export const settled = (state: State, topicId: TopicId): State => {
  const window = state.windows.get(topicId);
  return window ? put(state, topicId, { ...window, loading: "none" }) : state;
};

export const readFailed = (state: State, topicId: TopicId, error: string): State => {
  const window = state.windows.get(topicId);
  return window ? put(state, topicId, { ...window, loading: "none", error }) : state;
};

/** Puts a told message into its window, if it belongs into the loaded part. */
export const toldTo = (state: State, message: Message, isNew: boolean): State => {
  const window = state.windows.get(message.topicId);
  if (!window) return state;
  const oldest = window.messages[0];
  const inside = isNew ? oldest !== undefined || window.complete || window.loading === "newest" : window.complete || (oldest !== undefined && message.seq >= oldest.seq);
  return inside ? put(state, message.topicId, { ...window, messages: upsert(window.messages, message) }) : state;
};

/** Where a window's gapless part begins: everything at or above it is loaded. */
const beginning = (window: MessageWindow | undefined, topic: Topic | undefined): number => {
  if (window?.complete || topic?.messageCount === 0) return Number.NEGATIVE_INFINITY;
  return window?.messages[0]?.seq ?? Number.POSITIVE_INFINITY;
};

/** The windows after `from` was joined to `into`, and whether the newest messages have to be read again. */
export const joined = (state: State, from: Topic | undefined, fromId: TopicId, intoId: TopicId): { readonly state: State; readonly reload: boolean } => {
  const [one, other] = [state.windows.get(fromId), state.windows.get(intoId)];
  if (!one && !other) return { state, reload: false };
  const begin = Math.max(beginning(one, from), beginning(other, state.topics.get(intoId)));
  const moved = (one?.messages ?? []).map((message) => ({ ...message, topicId: intoId }));
  const together = union(other?.messages ?? [], moved);
  const gapless = together.filter((message) => message.seq >= begin);
  const windows = new Map(state.windows);
  windows.delete(fromId);
  const hasGap = one?.gapless === false || other?.gapless === false;
  const reload = hasGap || (gapless.length === 0 && begin !== Number.NEGATIVE_INFINITY);
  const messages = reload ? together : gapless;
  windows.set(intoId, { messages, gapless: !reload, complete: begin === Number.NEGATIVE_INFINITY, loading: reload ? "newest" : "none", error: undefined });
  return { state: { ...state, windows }, reload };
};
