import { describe, expect, it } from "vitest";
import { FakeKeep } from "../testing/store";
import { Kept } from "./kept";
import { isPinned, pinsName, readPins, seenPins, toggledPin, writePins } from "./pins";

const fail = (error: unknown): never => {
  throw error instanceof Error ? error : new Error(String(error));
};
const kept = (keep: FakeKeep, me = "ann", server = "https://one.example") => new Kept(keep, pinsName(server, me), fail);
const [bot, aid] = [{ id: "1", handle: "bot" }, { id: "2", handle: "aid" }];

describe("C43 pins of agents", () => {
  it("C43 come back in their order, for their server and their person only", () => {
    const keep = new FakeKeep();
    writePins(kept(keep), toggledPin(toggledPin([], aid), bot));
    expect(readPins(kept(keep))).toEqual([aid, bot]);
    expect(readPins(kept(keep, "ben"))).toEqual([]);
    expect(readPins(kept(keep, "ann", "https://two.example"))).toEqual([]);
  });

  it("C43 heal an older shape and what is broken", () => {
    const keep = new FakeKeep();
    keep.setItem(pinsName("s", "ann"), JSON.stringify(["1", { id: "2", handle: "aid" }, { id: "" }, 7, null, { id: "3" }, "1"]));
    expect(readPins(kept(keep, "ann", "s"))).toEqual([{ id: "1", handle: "1" }, aid, { id: "3", handle: "3" }]);
    for (const broken of ["{", "null", "{}", '"x"']) {
      keep.setItem(pinsName("s", "ann"), broken);
      expect(readPins(kept(keep, "ann", "s")), broken).toEqual([]);
    }
  });

  it("C43 keep an agent that is gone, with the handle it had, and let it be unpinned", () => {
    const pins = [bot, aid];
    expect(seenPins(pins, new Map([["2", { handle: "helper" }]]))).toEqual([bot, { id: "2", handle: "helper" }]);
    expect(seenPins(pins, new Map([["2", { handle: "aid" }]]))).toBe(pins);
    expect(isPinned(pins, "1")).toBe(true);
    expect(toggledPin(pins, { id: "1", handle: "whatever" })).toEqual([aid]);
  });

  it("tell of a storage that refuses, and forget", () => {
    const told: unknown[] = [];
    const keep = { getItem: () => fail(new Error("full")), setItem: () => fail(new Error("full")), removeItem: () => undefined };
    const refusing = new Kept(keep, "x", (error) => told.push(error));
    writePins(refusing, [bot]);
    expect(readPins(refusing)).toEqual([]);
    expect(told).toHaveLength(2);
  });
});
