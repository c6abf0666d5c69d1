/** A scrolled list of rows that are measured as they are made, kept in place when anything above or below changes. */
import { createEffect, createMemo, createSignal, onSettled, untrack } from "solid-js";
import { focusLate } from "../keyboard/keep-focus";
import { AT_END, layoutOf, placeAt, rangeOf, topFor, total } from "./stream-layout";
import type { Layout, Place, Range } from "./stream-layout";
import type { Row } from "./stream-rows";

/** Space kept above a row that is revealed, in px. */
const MARGIN = 48;

export interface Scroller {
  /** Refs: the element that scrolls, what stands above the rows, and each row. */
  readonly view: (element: HTMLElement) => void;
  readonly head: (element: HTMLElement) => void;
  readonly measure: (element: HTMLElement) => void;
  /** To be called for every scroll; true if a person has scrolled. */
  readonly scrolled: () => boolean;
  readonly range: () => Range;
  readonly layout: () => Layout;
  /** How far rows are scrolled, and how high the view is. */
  readonly top: () => number;
  readonly height: () => number;
  /** False until the view has a height. */
  readonly measured: () => boolean;
  readonly toEnd: () => number;
  /** The `seq` of the last message when the view was last at the end. */
  readonly leftEndAt: () => number;
  readonly toLatest: () => void;
  /** What is to stay where it is; `goTo` comes back to it. False if its row is not there. */
  readonly place: () => Place;
  readonly goTo: (place: Place) => boolean;
  /** Scrolls to a row and puts the focus on its message, unless it is elsewhere. False if there is no such row. */
  readonly reveal: (id: string) => boolean;
  /** Puts the focus on the message of a row, and scrolls no further than that needs. */
  readonly focus: (id: string) => boolean;
}

export function createScroller(rows: () => readonly Row[]): Scroller {
  const heights = new Map<string, number>();
  const [version, setVersion] = createSignal(0);
  const [top, setTop] = createSignal(0);
  const [height, setHeight] = createSignal(0);
  const [leftEndAt, setLeftEndAt] = createSignal(0);
  const ids = createMemo(() => rows().map((row) => row.id), { equals: (a, b) => a.length === b.length && a.every((id, index) => id === b[index]) });
  const layout = createMemo(() => {
    version();
    return layoutOf(ids(), heights);
  });
  const range = createMemo(() => rangeOf(layout(), top(), height()));
  const toEnd = createMemo(() => Math.max(0, total(layout()) - height() - top()));

  let view: HTMLElement | undefined;
  let head: HTMLElement | undefined;
  let place: Place = AT_END;
  /** Where the view was sent to among these rows, until a person scrolls: heights that are not measured yet make nothing an end. */
  let sent: { readonly place: Place; readonly ids: Layout["ids"] } | undefined;
  const headHeight = () => (head ? heightOf(head) : 0);

  /** Where the view was put last, as the browser took it; undefined once a person has scrolled. */
  let put: number | undefined;
  /** Where it was meant to be. */
  let meant = 0;

  const note = (from: Layout, at: number) => {
    if (!view) return;
    place = placeAt(from, at, view.clientHeight);
    setTop(at);
    setHeight(view.clientHeight);
    if (place.toEnd <= 1) setLeftEndAt(untrack(rows).at(-1)?.message.seq ?? 0);
  };
  /** Takes note of where a person has scrolled to. */
  const settle = (from: Layout) => {
    put = sent = undefined;
    if (!view) return;
    // The browser's end is the end, even where rows that are not measured make ours differ.
    const isEnd = view.scrollHeight - view.clientHeight - view.scrollTop <= 1;
    note(from, Math.max(0, isEnd ? total(from) - view.clientHeight : view.scrollTop - headHeight()));
  };
  /** Notes where the view is meant to be: rows that are not measured yet may keep the browser from going there at once. */
  const scrollTo = (target: number, from: Layout) => {
    if (!view) return;
    meant = target;
    goThere();
    note(from, target);
  };
  const goThere = () => {
    if (!view) return;
    view.scrollTop = meant + headHeight();
    put = view.scrollTop;
  };
  // The rows of the place are made only now: before, the browser may have known no place so far down.
  createEffect(range, () => {
    const isShort = put !== undefined && view?.scrollTop === put && put < meant + headHeight();
    if (isShort) goThere();
  });
  createEffect(
    () => layout(),
    (now, before) => {
      if (!view) return;
      const change = before?.ids === now.ids ? "heights" : "rows";
      if (sent?.ids !== now.ids) sent = undefined;
      const target = topFor(now, sent?.place ?? place, view.clientHeight, change);
      if (target === undefined) settle(now);
      else scrollTo(target, now);
    },
  );

  const messageOf = (id: string) => view?.querySelector<HTMLElement>(`[data-message="${CSS.escape(id)}"]`);
  const bring = (id: string, focus: (message: HTMLElement) => void) => {
    const now = untrack(layout);
    const row = now.ids.indexOf(id);
    if (row < 0) return false;
    const target = Math.max(0, (now.starts[row] ?? 0) - MARGIN);
    scrollTo(target, now);
    sent = { place: { id, into: target - (now.starts[row] ?? 0), toEnd: Number.POSITIVE_INFINITY }, ids: now.ids };
    // The row is made once this change is through.
    requestAnimationFrame(() => {
      const message = messageOf(id);
      if (message) focus(message);
    });
    return true;
  };

  const sizes = new ResizeObserver((entries) => {
    let isChanged = false;
    for (const { target } of entries) {
      if (target === view || target === head) {
        isChanged = true;
        continue;
      }
      if (!(target instanceof HTMLElement) || !target.isConnected) continue;
      const id = target.dataset["row"];
      const measured = heightOf(target);
      if (id === undefined || heights.get(id) === measured) continue;
      heights.set(id, measured);
      isChanged = true;
    }
    if (isChanged) setVersion((count) => count + 1);
  });
  onSettled(() => () => sizes.disconnect());

  return {
    view: (element) => {
      view = element;
      sizes.observe(element);
    },
    head: (element) => {
      head = element;
      sizes.observe(element);
    },
    measure: (element) => sizes.observe(element),
    scrolled: () => {
      const isPersons = view !== undefined && (put === undefined || Math.abs(view.scrollTop - put) >= 1);
      if (isPersons) settle(untrack(layout));
      return isPersons;
    },
    range, layout, top, height, toEnd, leftEndAt,
    measured: () => height() > 0,
    toLatest: () => {
      sent = undefined;
      scrollTo(total(layout()), layout());
    },
    place: () => place,
    goTo: (to) => {
      const now = untrack(layout);
      const target = view && topFor(now, to, view.clientHeight, "heights");
      if (target === undefined) return false;
      scrollTo(target, now);
      sent = { place: to, ids: now.ids };
      return true;
    },
    reveal: (id) =>
      bring(id, (message) => {
        if (view) focusLate(message, view);
      }),
    focus: (id) => {
      const message = messageOf(id);
      if (!message) return bring(id, (made) => made.focus({ preventScroll: true }));
      message.focus({ preventScroll: true });
      message.scrollIntoView({ block: "nearest" });
      return true;
    },
  };
}

/** With the fractions that `offsetHeight` rounds away and that add up over many rows. */
function heightOf(element: HTMLElement): number {
  return element.getBoundingClientRect().height;
}
