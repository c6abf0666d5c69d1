import { createRoot, createSignal, flush } from "solid-js";
import { beforeEach, expect, it, vi } from "vitest";
import { emptyState } from "../sync/reducer";
import { message, topic } from "../testing/builders";
import { createReading } from "./reading";
import { layoutOf } from "./stream-layout";
import { rowsOf } from "./stream-rows";

beforeEach(() => void vi.useFakeTimers());

const plan = topic("plan", "channel-plan");

/** A stream in which everything is in view, and what of it was marked when. */
const stream = () => {
  const marked: (readonly [number, number])[] = [];
  const start = Date.now();
  return createRoot((dispose) => {
    const [count, setCount] = createSignal(1);
    const [gapless, setGapless] = createSignal(true);
    const topics = new Map([[plan.id, plan]]);
    const windows = () => new Map([[plan.id, { messages: messages(), gapless: gapless(), complete: false, loading: "none" as const, error: undefined }]]);
    const messages = () => Array.from({ length: count() }, (_, index) => message(index + 1, "x"));
    createReading({
      topicId: plan.id,
      rows: () => rowsOf(messages(), undefined),
      scroller: { layout: () => layoutOf(messages().map((each) => each.id), new Map()), top: () => 0, height: () => 1_000_000, measured: () => true },
      store: { state: () => ({ ...emptyState("ann"), topics, windows: windows() }), markRead: (_, seq) => marked.push([Date.now() - start, seq]) },
    });
    const come = () => {
      setCount((before) => before + 1);
      flush();
    };
    flush();
    const setRead = (is: boolean) => {
      setGapless(is);
      flush();
    };
    return { marked, come, setRead, dispose, endTopic: () => topics.clear() };
  });
};

it("what is seen is marked once the view has rested", () => {
  const { marked, dispose } = stream();
  vi.advanceTimersByTime(499);
  expect(marked).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(marked).toEqual([[500, 1]]);
  dispose();
});

it("while messages keep coming it is marked as well, every two seconds and not more often", () => {
  const { marked, come, dispose } = stream();
  for (let passed = 0; passed < 10_000; passed += 100) {
    vi.advanceTimersByTime(100);
    come();
  }
  expect(marked.length).toBeGreaterThanOrEqual(4);
  // Also with pauses that are longer than a rest.
  for (let passed = 0; passed < 9_000; passed += 600) {
    vi.advanceTimersByTime(600);
    come();
  }
  expect(marked.length).toBeGreaterThanOrEqual(8);
  marked.forEach(([at], index) => expect(at - (marked[index - 1]?.[0] ?? -2_000), String(index)).toBeGreaterThanOrEqual(2_000));
  vi.advanceTimersByTime(2_000);
  expect(marked.at(-1)?.[1]).toBe(1 + 100 + 15);
  dispose();
});

it("what the view rested on is marked when it is left, and what it did not rest on is not", () => {
  const left = (after: number) => {
    const { marked, come, dispose } = stream();
    vi.advanceTimersByTime(600);
    come();
    vi.advanceTimersByTime(after);
    dispose();
    vi.advanceTimersByTime(10_000);
    return marked;
  };
  expect(left(900)).toEqual([[500, 1], [1_500, 2]]);
  expect(left(400)).toEqual([[500, 1]]);
});

it("of a topic that is gone nothing is marked", () => {
  const { marked, endTopic, dispose } = stream();
  endTopic();
  vi.advanceTimersByTime(10_000);
  dispose();
  expect(marked).toEqual([]);
});

it("nothing is marked before the newest page is here, nor while it is read again, and then it is", () => {
  const { marked, come, setRead, dispose } = stream();
  setRead(false);
  come();
  vi.advanceTimersByTime(10_000);
  expect(marked).toEqual([]);
  setRead(true);
  vi.advanceTimersByTime(500);
  expect(marked.map(([, seq]) => seq)).toEqual([2]);
  come();
  vi.advanceTimersByTime(2_500);
  setRead(false);
  come();
  dispose();
  expect(marked.map(([, seq]) => seq)).toEqual([2, 3]);
});
