import { describe, expect, it, onTestFinished } from "vitest";
import { turn } from "../testing/focus";
import { manage } from "./group";
import { watchFocus } from "./keep-focus";
import { Keys } from "./keys";

const stop = (name: string): HTMLElement => {
  const made = document.createElement("button");
  made.tabIndex = -1;
  made.setAttribute("data-stop", "");
  made.textContent = name;
  return made;
};
const group = (...names: readonly string[]) => {
  const box = document.createElement("div");
  box.append(...names.map(stop));
  const outside = document.createElement("button");
  document.body.append(box, outside);
  const keys = new Keys(false);
  for (const end of [keys.install(window), watchFocus(() => undefined), manage(box, (on, press) => keys.group(on, press))]) onTestFinished(end);
  const stops = () => [...box.querySelectorAll<HTMLElement>("[data-stop]")];
  const named = (name: string): HTMLElement => {
    const found = stops().find((each) => each.textContent === name);
    if (!found) throw new Error(name);
    return found;
  };
  return { box, outside, stops, named, reachable: () => stops().filter((each) => each.tabIndex === 0).map((each) => each.textContent) };
};
const press = (key: string) => (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const focused = () => document.activeElement?.textContent;

describe("a roving group", () => {
  it("C45 has exactly one tab stop, which follows the focus", () => {
    const { named, reachable } = group("a", "b", "c");
    expect(reachable()).toEqual(["a"]);
    named("a").focus();
    press("ArrowDown");
    expect(focused()).toBe("b");
    expect(reachable()).toEqual(["b"]);
    press("End");
    press("ArrowDown");
    expect(focused()).toBe("a");
    named("c").focus();
    expect(reachable()).toEqual(["c"]);
  });

  it("C45 a stop that goes while the focus is elsewhere takes nobody's focus; the first stop takes over", async () => {
    const { named, reachable, outside } = group("a", "b", "c");
    named("b").focus();
    outside.focus();
    await turn();
    named("b").remove();
    await turn();
    expect(document.activeElement).toBe(outside);
    expect(reachable()).toEqual(["a"]);
  });

  it("C45 the focus stays in the group when its stop goes, and a push alone never moves it", async () => {
    const { box, named, reachable } = group("a", "b");
    named("b").focus();
    box.prepend(stop("new"));
    await turn();
    expect(focused()).toBe("b");
    expect(reachable()).toEqual(["b"]);
    named("b").remove();
    await turn();
    expect(focused()).toBe("new");
  });

  it("C45 a group that was left for nothing in particular does not call the focus back", async () => {
    const { named } = group("a", "b");
    named("b").focus();
    named("b").blur();
    await turn();
    named("b").remove();
    await turn();
    expect(document.activeElement).toBe(document.body);
  });

  it("C45 a new group does not take the focus", async () => {
    group("a");
    await turn();
    expect(document.activeElement).toBe(document.body);
  });
});
