import { describe, expect, it } from "vitest";
import { parsePins, pinsKey, readPins, refreshPins, togglePin, writePins } from "./pins";
import { kept } from "./storage";

const [one, two] = [{ id: "a", handle: "one" }, { id: "b", handle: "two" }] as const;

class Fake implements Storage {
  [name: string]: unknown;
  private readonly items = new Map<string, string>();
  full = false;
  get length(): number {
    return this.items.size;
  }
  clear(): void {
    this.items.clear();
  }
  key(): null {
    return null;
  }
  getItem(key: string): string | null {
    if (this.full) throw new Error("denied");
    return this.items.get(key) ?? null;
  }
  removeItem(key: string): void {
    this.items.delete(key);
  }
  setItem(key: string, value: string): void {
    if (this.full) throw new Error("full");
    this.items.set(key, value);
  }
}

describe("pins of agents", () => {
  it("C43 are read as they were written, in their order", () => {
    const storage = kept(() => new Fake());
    const fake = new Fake();
    const same = kept(() => fake);
    writePins(same, "k", [two, one]);
    expect(readPins(same, "k")).toEqual([two, one]);
    expect(readPins(storage, "k")).toEqual([]);
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
    const fake = new Fake();
    fake.full = true;
    const storage = kept(() => fake);
    writePins(storage, "k", [one]);
    expect(readPins(storage, "k")).toEqual([one]);
  });
});
