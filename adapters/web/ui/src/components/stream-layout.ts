/** Where rows of a list stand that are as high as they turn out to be, and what to show of them. Pure; in CSS px. */

/** Height of a row that was not measured yet. */
export const ESTIMATE = 88;
/** Rows are made this far beyond what is visible. */
const OVERSCAN = 600;
/** How near to the end counts as being there when messages arrive. */
export const FOLLOW_WITHIN = 80;

export interface Layout {
  readonly ids: readonly string[];
  /** One more than `ids`: where each row begins, and where the last one ends. */
  readonly starts: readonly number[];
}

export function layoutOf(ids: readonly string[], heights: ReadonlyMap<string, number>): Layout {
  const starts = [0];
  let end = 0;
  for (const id of ids) {
    end += heights.get(id) ?? ESTIMATE;
    starts.push(end);
  }
  return { ids, starts };
}

export function total(layout: Layout): number {
  return layout.starts[layout.ids.length] ?? 0;
}

/** The row at `y`; the nearest one where there is none. -1 for an empty list. */
export function rowAt(layout: Layout, y: number): number {
  let [low, high] = [0, layout.ids.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((layout.starts[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return Math.min(low, layout.ids.length - 1);
}

export interface Range {
  readonly first: number;
  /** One after the last. */
  readonly end: number;
  /** Space that stands for the rows that are not made. */
  readonly before: number;
  readonly after: number;
}

export function rangeOf(layout: Layout, top: number, height: number): Range {
  if (layout.ids.length === 0) return { first: 0, end: 0, before: 0, after: 0 };
  const first = rowAt(layout, top - OVERSCAN);
  const end = rowAt(layout, top + height + OVERSCAN) + 1;
  return { first, end, before: layout.starts[first] ?? 0, after: total(layout) - (layout.starts[end] ?? 0) };
}

/** What must stay where it is: the row at the upper edge and how far it is above it, and how far away the end is. */
export interface Place {
  readonly id: string | undefined;
  readonly into: number;
  readonly toEnd: number;
}

/** Where a view begins: at the latest. */
export const AT_END: Place = { id: undefined, into: 0, toEnd: 0 };

export function placeAt(layout: Layout, top: number, height: number): Place {
  const row = rowAt(layout, top);
  return { id: layout.ids[row], into: top - (layout.starts[row] ?? 0), toEnd: Math.max(0, total(layout) - height - top) };
}

/**
 * Where to scroll so that `place` is kept. When rows came or went the end is followed from nearby; when they only grew,
 * from the end itself, so that nobody who scrolls slowly is pulled back. Undefined: stay, for the row is gone.
 */
export function topFor(layout: Layout, place: Place, height: number, change: "rows" | "heights"): number | undefined {
  const most = Math.max(0, total(layout) - height);
  if (place.toEnd <= (change === "rows" ? FOLLOW_WITHIN : 1)) return most;
  const row = place.id === undefined ? -1 : layout.ids.indexOf(place.id);
  if (row < 0) return undefined;
  return Math.min(most, (layout.starts[row] ?? 0) + place.into);
}

/** The last row of which enough is visible to call it seen: its end, or its beginning down to the middle of the view. */
export function seenThrough(layout: Layout, top: number, height: number): number {
  let seen = rowAt(layout, top + height);
  const isSeen = (row: number) => Math.min(layout.starts[row + 1] ?? 0, (layout.starts[row] ?? 0) + height / 2) <= top + height + 1;
  while (seen >= 0 && !isSeen(seen)) seen -= 1;
  return seen;
}
