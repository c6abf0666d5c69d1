import { describe, expect, it, onTestFinished, vi } from "vitest";
import { chordOf } from "./chord";
import { Keys, SEQUENCE_MS } from "./keys";

const element = (tag: string, into: Element = document.body, zone?: string): HTMLElement => {
  const made = document.createElement(tag);
  made.tabIndex = 0;
  if (zone !== undefined) made.setAttribute("data-zone", zone);
  into.append(made);
  return made;
};
const press = (key: string, on: Element = document.body, change: KeyboardEventInit = {}): KeyboardEvent => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...change });
  on.dispatchEvent(event);
  return event;
};
const installed = (): Keys => {
  const keys = new Keys(false);
  onTestFinished(keys.install(window));
  return keys;
};

describe("three tiers", () => {
  it("C45 a focused group is asked first, then the zone around the focus, then the page", () => {
    const keys = installed();
    const zone = element("div", document.body, "left");
    const row = element("div", zone);
    const told: string[] = [];
    let taken = true;
    keys.register({ id: "page", keys: "x", run: () => (told.push("page"), true) });
    keys.register({ id: "zone", keys: "x", zone: "left", run: () => (told.push("zone"), true) });
    keys.group(row, () => {
      told.push("group");
      return taken;
    });
    press("x", row);
    expect(told.splice(0)).toEqual(["group"]);
    taken = false;
    press("x", row);
    expect(told.splice(0)).toEqual(["group", "zone"]);
    press("x");
    expect(told).toEqual(["page"]);
  });

  it("C45 a command that declines, or is gone, lets the key go on; what nobody takes is the browser's", () => {
    const keys = installed();
    const zone = element("div", document.body, "left");
    const page = vi.fn(() => true);
    const declining = keys.register({ id: "zone", keys: "x", zone: "left", run: () => false });
    const unregister = keys.register({ id: "page", keys: "x", run: page });
    expect(press("x", zone).defaultPrevented).toBe(true);
    expect(page).toHaveBeenCalledTimes(1);
    declining();
    press("x", zone);
    expect(page).toHaveBeenCalledTimes(2);
    unregister();
    expect(press("x", zone).defaultPrevented).toBe(false);
    expect(page).toHaveBeenCalledTimes(2);
  });

  it("C45 the last command of an id wins and keeps its place; taking back an older one takes nothing", () => {
    const keys = installed();
    const told: string[] = [];
    const older = keys.register({ id: "a", keys: "x", run: () => (told.push("older"), true) });
    keys.register({ id: "b", keys: "y", run: () => true });
    keys.register({ id: "a", keys: "x", run: () => (told.push("newer"), true) });
    older();
    press("x");
    expect(told).toEqual(["newer"]);
    expect(keys.list().map((command) => command.id)).toEqual(["a", "b"]);
  });
});

describe("typing", () => {
  it("C45 a bare key never acts in a field, not even for the group around it; one with a modifier does", () => {
    const keys = installed();
    const run = vi.fn(() => true);
    const group = vi.fn(() => true);
    keys.register({ id: "a", keys: "x", run });
    keys.register({ id: "b", keys: "Mod+x", run });
    const box = element("div");
    keys.group(box, group);
    for (const tag of ["input", "textarea", "select"]) {
      const field = element(tag, box);
      expect(press("x", field).defaultPrevented, tag).toBe(false);
    }
    expect(run).not.toHaveBeenCalled();
    expect(group).not.toHaveBeenCalled();
    group.mockReturnValue(false);
    press("x", element("input", box), { ctrlKey: true });
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("C45 keys that something took already, or that compose a character, are left alone", () => {
    const keys = installed();
    const run = vi.fn(() => true);
    keys.register({ id: "a", keys: "x", run });
    const box = element("div");
    box.addEventListener("keydown", (event) => event.preventDefault());
    press("x", box);
    press("x", document.body, { isComposing: true });
    expect(run).not.toHaveBeenCalled();
  });
});

describe("chords", () => {
  it("C45 Mod is Cmd on a Mac and Ctrl elsewhere; the other one is another chord", () => {
    const bare = { key: "K", ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
    expect(chordOf({ ...bare, ctrlKey: true }, false)).toBe("Mod+k");
    expect(chordOf({ ...bare, metaKey: true }, true)).toBe("Mod+k");
    expect(chordOf({ ...bare, metaKey: true }, false)).toBe("Other+k");
    expect(chordOf({ ...bare, key: "?", shiftKey: true }, false)).toBe("?");
    expect(chordOf({ ...bare, key: "Tab", shiftKey: true }, false)).toBe("Shift+Tab");
  });

  it("C45 two keys after each other, within a while, with nothing between", () => {
    const keys = installed();
    const told: string[] = [];
    keys.register({ id: "gi", keys: "g i", run: () => (told.push("gi"), true) });
    keys.register({ id: "i", keys: "i", run: () => (told.push("i"), true) });
    const at = (key: string, ms: number) => {
      const event = new KeyboardEvent("keydown", { key, cancelable: true });
      Object.defineProperty(event, "timeStamp", { value: ms });
      keys.press(event);
    };
    at("g", 0);
    at("i", SEQUENCE_MS);
    at("g", 10_000);
    at("i", 10_001 + SEQUENCE_MS);
    at("g", 20_000);
    at("z", 20_001);
    at("i", 20_002);
    expect(told).toEqual(["gi", "i", "i"]);
  });

  it("C45 uninstalling takes away exactly one listener", () => {
    const [one, two] = [new Keys(false), new Keys(false)];
    const [first, second] = [vi.fn(() => true), vi.fn(() => false)];
    one.register({ id: "a", keys: "x", run: first });
    two.register({ id: "a", keys: "x", run: second });
    const [stopOne, stopTwo] = [one.install(window), two.install(window)];
    stopOne();
    press("x");
    expect(first).not.toHaveBeenCalled();
    expect(second).toHaveBeenCalledTimes(1);
    stopTwo();
    press("x");
    expect(second).toHaveBeenCalledTimes(1);
  });
});
