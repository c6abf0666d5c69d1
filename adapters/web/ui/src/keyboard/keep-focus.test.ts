import { describe, expect, it, onTestFinished } from "vitest";
import { turn } from "../testing/focus";
import { keepFocus, watchFocus } from "./keep-focus";

/** A list of rows with a link and a button each, and something beside it. */
const list = (...names: readonly string[]) => {
  const make = <K extends keyof HTMLElementTagNameMap>(tag: K, ...inside: readonly (Node | string)[]): HTMLElementTagNameMap[K] => {
    const made = document.createElement(tag);
    made.append(...inside);
    return made;
  };
  const rows = new Map(names.map((name) => {
    const [link, button] = [make("a", name), make("button", name)];
    link.href = `#${name}`;
    return [name, { row: make("li", link, button), link, button }] as const;
  }));
  const of = (name: string) => {
    const found = rows.get(name);
    if (!found) throw new Error(name);
    return found;
  };
  const ul = make("ul", ...names.map((name) => of(name).row));
  const [title, beside] = [make("h1"), make("button")];
  const main = make("main", title, ul);
  for (const each of [title, main]) each.tabIndex = -1;
  document.body.replaceChildren(main, beside);
  onTestFinished(watchFocus(() => main));
  return { ul, title, main, beside, row: (name: string) => of(name).row, link: (name: string) => of(name).link, button: (name: string) => of(name).button };
};
const focused = () => document.activeElement;

describe("when what holds the focus goes", () => {
  it("the same control of the next row has it, else that of the one before, else the heir of the list", async () => {
    const { row, button, ul, title } = list("a", "b", "c");
    keepFocus({ among: "button", or: () => title })(ul);
    button("b").focus();
    row("b").remove();
    await turn();
    expect(focused()).toBe(button("c"));
    row("c").remove();
    await turn();
    expect(focused()).toBe(button("a"));
    row("a").remove();
    await turn();
    expect(focused()).toBe(title);
  });
  it("rows that came meanwhile count, and those that take no focus do not", async () => {
    const { row, button, ul } = list("a", "b", "c");
    keepFocus({ among: "button" })(ul);
    button("a").focus();
    button("b").disabled = true;
    const late = row("c").cloneNode(true);
    ul.append(late);
    await turn();
    for (const name of ["a", "c"]) row(name).remove();
    await turn();
    expect(focused()).toBe(late.lastChild);
  });
  it("something else of a row leaves it to the next row too", async () => {
    const { link, row, button, ul } = list("a", "b");
    keepFocus({ among: "button" })(ul);
    link("a").focus();
    row("a").remove();
    await turn();
    expect(focused()).toBe(button("b"));
  });
  it("the innermost that has an heir decides, be it gone itself; where nobody has one the content takes it", async () => {
    const { row, button, ul, title } = list("a", "b");
    keepFocus({ or: () => title })(ul);
    keepFocus({ or: () => document.body })(row("a"));
    keepFocus({ or: () => button("b") })(button("a"));
    button("a").focus();
    ul.removeChild(row("a"));
    await turn();
    expect(focused()).toBe(button("b"));
    const other = list("c");
    keepFocus({ among: "button" })(other.ul);
    other.button("c").focus();
    other.row("c").remove();
    await turn();
    expect(focused()).toBe(other.main);
  });
});

describe("the focus is left where it is", () => {
  it("when somebody took it already, or it had gone elsewhere", async () => {
    const { row, button, ul, title, beside } = list("a", "b", "c");
    keepFocus({ among: "button", or: () => title })(ul);
    button("a").focus();
    row("a").remove();
    beside.focus();
    await turn();
    expect(focused()).toBe(beside);
    row("b").remove();
    await turn();
    expect(focused()).toBe(beside);
  });
  it("when it was left for nothing in particular", async () => {
    const { row, button, ul, title } = list("a", "b");
    keepFocus({ or: () => title })(ul);
    button("a").focus();
    button("a").blur();
    await turn();
    row("a").remove();
    await turn();
    expect(focused()).toBe(document.body);
  });
});
