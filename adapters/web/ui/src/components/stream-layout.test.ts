// @vitest-environment node
import { describe, expect, it } from "vitest";
import { message, position } from "../testing/builders";
import { AT_END, ESTIMATE, layoutOf, placeAt, rangeOf, rowAt, seenThrough, topFor, total } from "./stream-layout";
import { arrivedSince, firstUnread, rowsOf } from "./stream-rows";

const VIEW = 500;
const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `m${from + index}`);
const heights = (entries: Record<string, number> = {}) => new Map(Object.entries(entries));
const tall = (names: readonly string[], height = 100) => new Map(names.map((id) => [id, height]));

describe("C38 where rows stand", () => {
  it("rows that were not measured count with an estimate", () => {
    const layout = layoutOf(["a", "b", "c"], heights({ b: 10 }));
    expect(layout.starts).toEqual([0, ESTIMATE, ESTIMATE + 10, 2 * ESTIMATE + 10]);
    expect(total(layout)).toBe(2 * ESTIMATE + 10);
  });
  it("finds the row at a height; outside of the list the nearest; in an empty list none", () => {
    const layout = layoutOf(["a", "b", "c"], heights({ a: 10, b: 20, c: 30 }));
    expect([-5, 0, 9, 10, 29, 30, 59, 60, 1e9].map((y) => rowAt(layout, y))).toEqual([0, 0, 0, 1, 1, 2, 2, 2, 2]);
    expect(rowAt(layoutOf([], heights()), 0)).toBe(-1);
  });
  it("makes few rows of many; the spaces stand for the others", () => {
    const layout = layoutOf(ids(0, 100_000), heights());
    for (const top of [0, 1234, total(layout) / 2, total(layout) - VIEW, total(layout) * 2]) {
      const { first, end, before, after } = rangeOf(layout, top, VIEW);
      expect(end - first).toBeGreaterThan(0);
      expect(end - first).toBeLessThan(40);
      expect(before + after + (layout.starts[end] ?? 0) - (layout.starts[first] ?? 0)).toBeCloseTo(total(layout));
    }
    expect(rangeOf(layoutOf([], heights()), 50, VIEW)).toEqual({ first: 0, end: 0, before: 0, after: 0 });
  });
});

describe("C38 what stays where", () => {
  const names = ids(0, 50);
  const layout = layoutOf(names, tall(names));
  const end = total(layout) - VIEW;
  it("opens at the latest", () => expect(topFor(layout, AT_END, VIEW, "rows")).toBe(end));
  it.each([[0, true], [80, true], [81, false], [500, false]])("%d px from the end a new message is followed: %s", (away, isFollowed) => {
    const more = layoutOf(ids(0, 51), tall(ids(0, 51)));
    const target = topFor(more, placeAt(layout, end - away, VIEW), VIEW, "rows");
    expect(target).toBe(isFollowed ? total(more) - VIEW : end - away);
  });
  it("a row that grows near the end does not pull back whoever scrolls", () => {
    const grown = layoutOf(names, new Map([...tall(names), ["m0", 130]]));
    expect(topFor(grown, placeAt(layout, end - 40, VIEW), VIEW, "heights")).toBe(end - 40 + 30);
    expect(topFor(grown, placeAt(layout, end, VIEW), VIEW, "heights")).toBe(total(grown) - VIEW);
  });
  it("older messages above keep the view", () => {
    const place = placeAt(layout, 1234, VIEW);
    const more = layoutOf(ids(-30, 50), tall(ids(-30, 50)));
    expect(topFor(more, place, VIEW, "rows")).toBe(1234 + 30 * 100);
  });
  it("heights above that turn out different keep the view", () => {
    const place = placeAt(layout, 2050, VIEW);
    const measured = layoutOf(names, new Map([...tall(names), ["m3", 400], ["m5", 20]]));
    expect(topFor(measured, place, VIEW, "heights")).toBe(2050 + 300 - 80);
  });
  it("a list that shrinks, also to nothing, leads to no place that is not there", () => {
    const place = placeAt(layout, 1234, VIEW);
    expect(topFor(layoutOf(ids(20, 30), tall(names)), place, VIEW, "rows")).toBeUndefined();
    expect(topFor(layoutOf(ids(12, 14), tall(names)), place, VIEW, "rows")).toBe(0);
    expect(topFor(layoutOf([], heights()), place, VIEW, "rows")).toBeUndefined();
    expect(placeAt(layoutOf([], heights()), 0, VIEW)).toEqual({ id: undefined, into: 0, toEnd: 0 });
  });
});

describe("what was seen and what is new", () => {
  it("a row is seen when its end is visible, or its beginning down to the middle of the view", () => {
    const layout = layoutOf(["a", "b", "c"], heights({ a: 100, b: 2000, c: 100 }));
    expect(seenThrough(layout, 0, VIEW)).toBe(1);
    expect(seenThrough(layout, 0, 150)).toBe(0);
    expect(seenThrough(layout, 1700, VIEW)).toBe(2);
    expect(seenThrough(layout, 0, 60)).toBe(0);
    expect(seenThrough(layoutOf([], heights()), 0, VIEW)).toBe(-1);
    expect(seenThrough(layoutOf(["a", "b"], heights({ a: 100, b: 100 })), 0, 149)).toBe(0);
  });
  it("the line of new messages stands before the first unread message of others", () => {
    const all = [message(1, "a", { authorId: "x" }), message(2, "b", { authorId: "me" }), message(3, "c", { authorId: "x" })];
    expect(firstUnread(all, position("t", { seq: 1, unread: 1 }), "me")).toBe("message-3");
    expect(firstUnread(all, position("t", { seq: 1, unread: 0 }), "me")).toBeUndefined();
    expect(firstUnread(all, undefined, "me")).toBeUndefined();
    expect(rowsOf(all, "message-3").map((row) => row.startsUnread)).toEqual([false, false, true]);
    expect(arrivedSince(all, 1, "me")).toBe(1);
  });
  it("a day begins where the date changes", () => {
    const at = (day: number) => new Date(2026, 10, day, 12).getTime();
    const all = [message(1, "a", { at: at(1) }), message(2, "b", { at: at(1) }), message(3, "c", { at: at(2) })];
    expect(rowsOf(all, undefined).map((row) => row.startsDay)).toEqual([true, false, true]);
  });
  it("rows are kept as they are while they say the same, however the list moves", () => {
    const at = (seq: number) => message(seq, "x", { at: new Date(2026, 10, 1, seq).getTime() });
    const all = Array.from({ length: 60 }, (_, seq) => at(seq));
    const before = rowsOf(all.slice(20, 40), "message-25");
    for (const [from, to] of [[20, 41], [21, 40], [10, 40], [22, 39], [15, 45], [40, 60], [20, 20]] as const) {
      const part = all.slice(from, to);
      const now = rowsOf(part, "message-25", before);
      expect(now, `${from.toString()} to ${to.toString()}`).toEqual(rowsOf(part, "message-25"));
      const kept = now.filter((row) => before.includes(row)).length;
      // All that are in both, but for those whose neighbour above is another now.
      const both = Math.max(0, Math.min(to, 40) - Math.max(from, 20));
      expect(kept, `${from.toString()} to ${to.toString()}`).toBe(both === 0 || from === 20 ? both : both - 1);
    }
    const changed = all.slice(20, 40).with(4, message(24, "y", { at: at(24).at }));
    expect(rowsOf(changed, undefined, before)).toEqual(rowsOf(changed, undefined));
    expect(rowsOf(all.slice(20, 40), "message-26", before)).toEqual(rowsOf(all.slice(20, 40), "message-26"));
  });
});
