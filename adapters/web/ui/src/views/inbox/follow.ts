/** Which asks the inbox shows: what is open, and what ended while it was shown. Pure. */
import { askById, byPosting, inbox } from "../../model/select";
import type { Waiting } from "../../model/select";
import type { AskId } from "../../model/types";
import type { State, Unsent } from "../../store/contract";

export interface Shown {
  readonly waiting: Waiting;
  /** `gone`: it is no longer open, and how it ended is not known here. */
  readonly is: "open" | "ended" | "gone";
}

/** Ended asks that stay; the oldest go first. */
export const KEPT_SHOWN = 50;

/** What is shown after `before`. What ends keeps its place until it is dismissed; so does what did not take the person's answer, even if it was not shown. */
export const follow = (before: readonly Shown[], state: State, unsent: ReadonlyMap<AskId, Unsent>, dismissed: ReadonlySet<AskId>): readonly Shown[] => {
  if (!state.ready) return before;
  const open = inbox(state).map((waiting): Shown => ({ waiting, is: "open" }));
  const isOpen = new Set(open.map((each) => each.waiting.ask.id));
  const missed = [...unsent.keys()].flatMap((id): readonly Shown[] => {
    const [entry, version] = [state.endedAsks.get(id), askById(state, id)];
    return entry && version && !before.some((each) => each.waiting.ask.id === id) ? [{ waiting: { ...version, channelId: entry.channelId }, is: "ended" }] : [];
  });
  const ended = [...before, ...missed].filter((each) => !isOpen.has(each.waiting.ask.id) && !dismissed.has(each.waiting.ask.id)).map((each) => latest(each, state));
  return [...open, ...ended.slice(-KEPT_SHOWN)].sort((a, b) => byPosting(a.waiting, b.waiting));
};

const latest = (shown: Shown, state: State): Shown => {
  const version = askById(state, shown.waiting.ask.id);
  if (version && version.ask.end.kind !== "open") return { waiting: { ...version, channelId: shown.waiting.channelId }, is: "ended" };
  return shown.is === "ended" ? shown : { waiting: shown.waiting, is: "gone" };
};
