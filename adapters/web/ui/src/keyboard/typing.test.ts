import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { pressAt } from "../testing/focus";
import { Keys } from "./keys";
import { PAUSE_MS, watchTyping } from "./typing";

const make = <K extends keyof HTMLElementTagNameMap>(tag: K): HTMLElementTagNameMap[K] => {
  const made = document.createElement(tag);
  made.tabIndex = 0;
  document.body.append(made);
  return made;
};

describe("a sentence whose field the page takes away", () => {
  const shortcut = vi.fn(() => true);
  let [field, elsewhere] = [document.createElement("textarea"), document.createElement("div")];
  beforeEach(() => {
    shortcut.mockClear();
    [field, elsewhere] = [make("textarea"), make("div")];
    const keys = new Keys(false);
    for (const key of ["x", "y", "Mod+c"]) keys.register({ id: key, keys: key, run: shortcut });
    for (const end of [keys.install(window), watchTyping()]) onTestFinished(end);
  });
  /** The page moves the focus, at a time in ms. */
  const take = (at: number) => {
    field.blur();
    const event = new FocusEvent("focusin", { bubbles: true });
    Object.defineProperty(event, "timeStamp", { value: at });
    elsewhere.dispatchEvent(event);
  };
  const type = (at: number, key = "a") => {
    field.focus();
    pressAt(key, at);
  };

  it("C45 runs no shortcut and presses nothing, until the keys pause", () => {
    const near = vi.fn();
    elsewhere.addEventListener("keydown", near);
    type(0);
    take(50);
    elsewhere.focus();
    for (const key of ["x", " ", "Enter", "ArrowDown"]) expect(pressAt(key, PAUSE_MS), key).toBe(false);
    expect(pressAt("x", 2 * PAUSE_MS)).toBe(false);
    expect(shortcut).not.toHaveBeenCalled();
    expect(near).not.toHaveBeenCalled();
    pressAt("x", 3 * PAUSE_MS + 1);
    expect(shortcut).toHaveBeenCalledOnce();
    pressAt("x", 3 * PAUSE_MS + 2);
    expect(shortcut).toHaveBeenCalledTimes(2);
  });

  it("also of somebody who had paused: nobody sees at once that the field is gone", () => {
    type(0);
    take(20 * PAUSE_MS);
    pressAt("x", 21 * PAUSE_MS);
    expect(shortcut).not.toHaveBeenCalled();
  });

  it("also if nothing takes the focus", () => {
    type(0);
    field.remove();
    pressAt("x", PAUSE_MS);
    expect(shortcut).not.toHaveBeenCalled();
  });

  it.each<readonly [string, () => void]>([
    ["Tab", () => pressAt("Tab", 1)],
    ["Escape", () => pressAt("Escape", 1)],
    ["a chord with a modifier, which runs", () => expect(pressAt("c", 1, { ctrlKey: true })).toBe(false)],
    ["a press of the mouse", () => elsewhere.dispatchEvent(new MouseEvent("pointerdown", { bubbles: true }))],
    ["a click of another kind", () => elsewhere.click()],
  ])("%s ends that", (_, act) => {
    type(0);
    take(0);
    act();
    shortcut.mockClear();
    pressAt("x", 2);
    expect(shortcut).toHaveBeenCalledOnce();
  });

  it.each(["Shift", "Control", "F5", "AudioVolumeUp"])("%s is neither taken nor the end of it", (key) => {
    type(0);
    take(0);
    expect(pressAt(key, 1, { ctrlKey: key === "Control" })).toBe(true);
    pressAt("x", 2);
    expect(shortcut).not.toHaveBeenCalled();
  });

  it.each<KeyboardEventInit>([{ altKey: true }, { altKey: true, ctrlKey: true }])("a character that is written with %o is of the sentence too", (change) => {
    type(0);
    take(0);
    expect(pressAt("€", 1, change)).toBe(true);
    pressAt("x", 2);
    expect(shortcut).not.toHaveBeenCalled();
  });

  it("a chord that edits the text does not end it, nor does Enter in a field of several lines", () => {
    for (const [key, change] of [["v", { ctrlKey: true }], ["Enter", {}]] as const) {
      type(0);
      pressAt(key, 1, change);
      take(1);
      pressAt("y", 2);
      expect(shortcut, key).not.toHaveBeenCalled();
    }
  });

  it.each(["Tab", "Escape"])("whoever leaves the field by %s has the shortcuts at once", (key) => {
    type(0);
    type(1, key);
    take(1);
    pressAt("x", 2);
    expect(shortcut).toHaveBeenCalledOnce();
  });

  it("so does whoever ends a field of one line by Enter, but not by the one that ends a composition", () => {
    const line = make("input");
    line.focus();
    pressAt("a", 0);
    pressAt("Enter", 1, { isComposing: true });
    take(1);
    elsewhere.focus();
    pressAt("x", 2);
    expect(shortcut).not.toHaveBeenCalled();
    line.focus();
    pressAt("Enter", 3);
    take(3);
    elsewhere.focus();
    pressAt("x", 4);
    expect(shortcut).toHaveBeenCalledOnce();
  });

  it("goes on in a field that the page puts in its place", () => {
    type(0);
    field.remove();
    const other = make("textarea");
    other.focus();
    expect(pressAt("x", 1)).toBe(true);
    expect(shortcut).not.toHaveBeenCalled();
  });
});
