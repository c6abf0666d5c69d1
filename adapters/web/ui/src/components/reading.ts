/** Tells the store what was seen of a topic, once the view has rested on it. */
import { createEffect, untrack } from "solid-js";
import type { TopicId } from "../model/types";
import type { Store } from "../store/contract";
import type { Scroller } from "./scroller";
import { seenThrough } from "./stream-layout";
import type { Row } from "./stream-rows";

/** How long the view rests before what it shows counts as seen, in ms. */
const REST = 500;

export interface ReadingInput {
  readonly topicId: TopicId;
  readonly rows: () => readonly Row[];
  readonly scroller: Pick<Scroller, "layout" | "top" | "height" | "measured">;
  readonly store: Pick<Store, "state" | "markRead">;
}

export function createReading({ topicId, rows, scroller, store }: ReadingInput): void {
  const mark = () => {
    if (document.visibilityState !== "visible") return;
    const row = untrack(rows)[untrack(() => seenThrough(scroller.layout(), scroller.top(), scroller.height()))];
    const before = untrack(store.state).positions.get(topicId)?.seq ?? 0;
    if (row && row.message.seq > before) store.markRead(topicId, row.message.seq);
  };
  createEffect(
    () => ({ layout: scroller.layout(), top: scroller.top(), isMeasured: scroller.measured() }),
    ({ isMeasured }) => {
      if (!isMeasured) return;
      const timer = setTimeout(mark, REST);
      document.addEventListener("visibilitychange", mark);
      return () => {
        clearTimeout(timer);
        document.removeEventListener("visibilitychange", mark);
      };
    },
  );
}
