// @vitest-environment node
import { describe, expect, it } from "vitest";
import { parsePins, pinsKey, readPins, refreshPins, togglePin, writePins } from "./pins";
import { memory } from "../testing/memory";
import { kept } from "./storage";

const [one, two] = [{ id: "a", handle: "one" }, { id: "b", handle: "two" }] as const;

const denied = (): never => {
  throw new Error("denied");
};

describe("pins of agents", () => {
  it("C43 are read as they were written, in their order", () => {
    const storage = memory();
    writePins(storage, "k", [two, one]);
    expect(readPins(storage, "k")).toEqual([two, one]);
    expect(readPins(storage, "other")).toEqual([]);
  });
  it("C43 belong to one server and one account", () => {
    expect(new Set([pinsKey("s", "a"), pinsKey("s", "b"), pinsKey("t", "a")]).size).toBe(3);
  });
  it("C43 older shapes are healed and nonsense is left out, once each", () => {
    expect(parsePins('["a",{"id":"b","handle":"two"},{"id":"c"},"a","",7,null,{"handle":"x"}]')).toEqual([{ id: "a", handle: "a" }, two, { id: "c", handle: "c" }]);
    for (const broken of [undefined, "", "{", "7", '{"id":"a"}']) expect(parsePins(broken)).toEqual([]);
  });
  it("C43 toggling adds at the end or takes out, and keeps the others' order", () => {
    expect(togglePin([one], two)).toEqual([one, two]);
    expect(togglePin([one, two], { id: "a", handle: "renamed" })).toEqual([two]);
  });
  it("C43 a pin whose agent is gone keeps the handle it had; others follow their agent's", () => {
    expect(refreshPins([one, two], (id) => (id === "a" ? "renamed" : undefined))).toEqual([{ id: "a", handle: "renamed" }, two]);
  });
  it("C43 a browser that keeps nothing keeps them while the page lives", () => {
    const storage = kept(denied);
    writePins(storage, "k", [one]);
    expect(readPins(storage, "k")).toEqual([one]);
  });
});
