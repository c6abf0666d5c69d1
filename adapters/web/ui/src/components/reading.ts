/** Tells the store what was seen of a topic, once the view has rested on it. */
import { createEffect, onCleanup, untrack } from "solid-js";
import type { TopicId } from "../model/types";
import type { Store } from "../store/contract";
import type { Scroller } from "./scroller";
import { seenThrough } from "./stream-layout";
import type { Row } from "./stream-rows";

/** How long the view rests before what it shows counts as seen, in ms. */
const REST = 500;
/** A view that never rests counts as seen this often, and no view more often, in ms. */
const EVERY = 2_000;

export interface ReadingInput {
  readonly topicId: TopicId;
  readonly rows: () => readonly Row[];
  readonly scroller: Pick<Scroller, "layout" | "top" | "height" | "measured">;
  readonly store: Pick<Store, "state" | "markRead">;
}

export function createReading({ topicId, rows, scroller, store }: ReadingInput): void {
  let last = 0;
  /** Since when there is something new to see. */
  let since: number | undefined;
  /** The newest message that is in view, and since when the view rests. */
  let [seen, restsSince] = [0, 0];
  const mark = () => {
    last = Date.now();
    since = undefined;
    if (document.visibilityState !== "visible") return;
    const { topics, positions } = untrack(store.state);
    if (topics.has(topicId) && seen > (positions.get(topicId)?.seq ?? 0)) store.markRead(topicId, seen);
  };
  onCleanup(() => {
    if (since !== undefined && Date.now() - restsSince >= REST) mark();
  });
  createEffect(
    () => ({ layout: scroller.layout(), top: scroller.top(), height: scroller.height(), isMeasured: scroller.measured(), isGapless: store.state().windows.get(topicId)?.gapless === true }),
    ({ layout, top, height, isMeasured, isGapless }) => {
      // What is marked marks all before it, which is not here yet where there is a gap.
      if (!isMeasured || !isGapless) return;
      const now = Date.now();
      seen = untrack(rows)[seenThrough(layout, top, height)]?.message.seq ?? 0;
      restsSince = now;
      since ??= now;
      const due = Math.max(Math.min(now + REST, since + EVERY), last + EVERY);
      // A clock that was set back must not hold it up.
      const timer = setTimeout(mark, Math.min(due - now, EVERY));
      document.addEventListener("visibilitychange", mark);
      return () => {
        clearTimeout(timer);
        document.removeEventListener("visibilitychange", mark);
      };
    },
  );
}
