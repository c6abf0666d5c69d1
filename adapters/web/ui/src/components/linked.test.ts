import { createRoot, createSignal, flush } from "solid-js";
import { afterEach, describe, expect, it } from "vitest";
import type { MessageWindow } from "../store/contract";
import { messageText } from "../strings";
import { message } from "../testing/builders";
import { createLinked } from "./linked";
import type { Linked } from "./linked";

let dispose: () => void = () => undefined;
afterEach(() => dispose());

/** A topic of `size` messages of which pages of one are read; `wanted` is the id of an address. */
function view(size: number, wanted: string) {
  const all = Array.from({ length: size }, (_, index) => message(index + 1, "x"));
  const read = (count: number): MessageWindow => ({ messages: all.slice(size - count), gapless: true, complete: count >= size, loading: "none", error: undefined });
  const [loaded, setLoaded] = createSignal(read(1));
  const [id, setId] = createSignal<string | undefined>(wanted);
  const revealed: string[] = [];
  let older = 0;
  const linked = createRoot((end): Linked => {
    dispose = end;
    return createLinked({ wanted: id, loaded, older: () => (older += 1), reveal: (found) => revealed.push(found) > 0 });
  });
  flush();
  const set = (next: MessageWindow) => {
    setLoaded(next);
    flush();
  };
  return { linked, revealed, read, set, older: () => older, go: (next: string | undefined) => {
    setId(next);
    flush();
  } };
}

describe("a message that an address names", () => {
  it("older messages are read until it is there; then it is shown once", () => {
    const { linked, revealed, read, set, older } = view(10, "message-7");
    expect([linked.notice(), older()]).toEqual([messageText.linkedSearching, 1]);
    set({ ...read(2), loading: "older" });
    expect(older()).toBe(1);
    set(read(3));
    set(read(4));
    expect(revealed).toEqual(["message-7"]);
    expect(linked.notice()).toBeUndefined();
    set(read(5));
    expect([revealed.length, older()]).toEqual([1, 2]);
  });
  it("where it is not, that is told", () => {
    const { linked, read, set } = view(3, "elsewhere");
    set(read(3));
    expect(linked.notice()).toBe(messageText.linkedMissing);
    linked.dismiss();
    flush();
    expect(linked.notice()).toBeUndefined();
  });
  it("the search has a bound, and a failed read ends it", () => {
    const { linked, read, set, older } = view(1000, "elsewhere");
    for (let count = 2; count < 100; count += 1) set(read(count));
    expect(older()).toBe(40);
    expect(linked.notice()).toBe(messageText.linkedMissing);
    const failed = view(10, "elsewhere");
    failed.set({ ...failed.read(2), error: "away" });
    expect(failed.linked.notice()).toBe(messageText.linkedMissing);
    expect(failed.older()).toBe(1);
  });
  it("nothing is looked for once the person has gone elsewhere, or dismissed the search", () => {
    for (const away of ["leave", "dismiss"] as const) {
      const { linked, revealed, read, set, older } = view(10, "message-7");
      linked[away]();
      set(read(4));
      expect([linked.notice(), revealed, older()], away).toEqual([undefined, [], 1]);
    }
    const { linked, read, set } = view(3, "elsewhere");
    set(read(3));
    linked.leave();
    flush();
    expect(linked.notice()).toBe(messageText.linkedMissing);
  });
  it("another address begins another search; none ends it", () => {
    const { linked, revealed, read, set, go } = view(3, "elsewhere");
    set(read(3));
    go("message-1");
    expect(revealed).toEqual(["message-1"]);
    go("nowhere");
    expect(linked.notice()).toBe(messageText.linkedMissing);
    go(undefined);
    expect(linked.notice()).toBeUndefined();
  });
});
