/** Which message of a stream a person is at: the one stop of Tab among them, which keys move. */
import { createMemo, createSignal, untrack } from "solid-js";
import type { MessageId } from "../model/types";
import type { Scroller } from "./scroller";
import { seenThrough } from "./stream-layout";
import type { Row } from "./stream-rows";

interface Input {
  readonly rows: () => readonly Row[];
  readonly scroller: Pick<Scroller, "layout" | "top" | "height" | "range" | "focus">;
}

export interface Moves {
  readonly at: () => MessageId | undefined;
  /** False while there is none, or while its row is too far away to be made. */
  readonly isAtOne: () => boolean;
  /** For `onFocusIn` of what holds the messages. */
  readonly enter: (event: FocusEvent) => void;
  /** To the next (1) or previous (-1) message; from outside to the one that was left, else to the last one in view. False if there is none. */
  readonly move: (step: 1 | -1) => boolean;
}

export function createMoves({ rows, scroller }: Input): Moves {
  const [at, setAt] = createSignal<MessageId | undefined>(undefined);
  const index = createMemo(() => (at() === undefined ? -1 : rows().findIndex((row) => row.id === at())));
  const isAtOne = () => index() >= scroller.range().first && index() < scroller.range().end;
  const target = (step: 1 | -1) => {
    if (!isAtOne()) return seenThrough(scroller.layout(), scroller.top(), scroller.height());
    return messageOf(document.activeElement) === at() ? index() + step : index();
  };
  return {
    at, isAtOne,
    enter: (event) => setAt(messageOf(event.target)),
    move: (step) =>
      untrack(() => {
        const row = rows()[Math.min(Math.max(target(step), 0), rows().length - 1)];
        return row !== undefined && scroller.focus(row.id);
      }),
  };
}

const messageOf = (target: EventTarget | null): MessageId | undefined => (target instanceof Element ? target.closest<HTMLElement>("[data-message]")?.dataset["message"] : undefined);
