/** Which asks the inbox shows: what is open, and what ended while it was shown. Pure. */
import { askById, byPosting, inbox } from "../../model/select";
import type { Waiting } from "../../model/select";
import type { AskId } from "../../model/types";
import type { InboxOrder } from "../../prefs/prefs";
import type { State, Unsent } from "../../store/contract";

export interface Shown {
  readonly waiting: Waiting;
  /** `gone`: it is no longer open, and how it ended is not known here. */
  readonly is: "open" | "ended" | "gone";
}

/** Ended asks that stay; the oldest go first. */
export const KEPT_SHOWN = 50;

/** How the person wants the asks. Another one, be it the same, lets everything move. */
export interface Wish {
  readonly order: InboxOrder;
  readonly calls: number;
}

export interface Listed {
  readonly wish: Wish | undefined;
  /** In the order of the wish. */
  readonly shown: readonly Shown[];
  /** New ones that would stand before something that is shown, and so would move it. */
  readonly held: readonly Shown[];
}

export const NOTHING: Listed = { wish: undefined, shown: [], held: [] };

/**
 * What is shown after `before`. What ends keeps its place until it is dismissed; so does what did not take the person's
 * answer, even if it was not shown. Nobody's asks are moved under their hands: what is new and belongs further up waits
 * for another wish.
 */
export const follow = (before: Listed, state: State, unsent: ReadonlyMap<AskId, Unsent>, dismissed: ReadonlySet<AskId>, wish: Wish): Listed => {
  // Before everything else is read the open asks are all there is to show.
  if (!state.ready && state.openAsks.size === 0) return before;
  const known = new Set(before.shown.map(idOf));
  const open = inbox(state).map((waiting): Shown => ({ waiting, is: "open" }));
  const isOpen = new Set(open.map(idOf));
  const missed = [...unsent.keys()].flatMap((id): readonly Shown[] => {
    const [entry, version] = [state.endedAsks.get(id), askById(state, id)];
    return entry && version && !known.has(id) ? [{ waiting: { ...version, channelId: entry.channelId }, is: "ended" }] : [];
  });
  const ended = [...before.shown, ...missed].filter((each) => !isOpen.has(idOf(each)) && !dismissed.has(idOf(each))).map((each) => latest(each, state));
  // Which of them are the oldest does not depend on the order.
  const kept = ended.sort(byAge).slice(-KEPT_SHOWN);
  const all = [...open, ...kept].sort(byAge);
  if (wish.order === "newest") all.reverse();
  const last = before.wish === wish ? all.findLastIndex((each) => known.has(idOf(each))) : -1;
  const waits = (each: Shown, at: number): boolean => at < last && each.is === "open" && !known.has(idOf(each));
  return { wish, shown: all.filter((each, at) => !waits(each, at)), held: all.filter(waits) };
};

const idOf = (shown: Shown): AskId => shown.waiting.ask.id;
const byAge = (a: Shown, b: Shown): number => byPosting(a.waiting, b.waiting);

const latest = (shown: Shown, state: State): Shown => {
  const version = askById(state, shown.waiting.ask.id);
  if (version && version.ask.end.kind !== "open") return { waiting: { ...version, channelId: shown.waiting.channelId }, is: "ended" };
  return shown.is === "ended" ? shown : { waiting: shown.waiting, is: "gone" };
};
