// @vitest-environment node
/** Nothing of the page is disabled under the focus. */
import ts from "typescript";
import { expect, it } from "vitest";
import { components, walk } from "../testing/sources";

/** What a browser takes the focus from. */
const FOCUSED = new Set(["button", "fieldset", "input", "select", "textarea"]);

/** Elements that lose the focus: whatever can hold it and is `disabled`, and any component that is so while something is under way. */
const losing = (source: string): readonly string[] => {
  const found: string[] = [];
  walk(source, (node, file) => {
    if (!ts.isJsxAttribute(node) || node.name.getText(file) !== "disabled") return;
    const tag = node.parent.parent.tagName.getText(file);
    const isUnderWay = /busy|posting|saving|sending|loading/i.test(node.initializer?.getText(file) ?? "");
    if (FOCUSED.has(tag) || isUnderWay) found.push(`${tag} ${node.getText(file)}`);
  });
  return found;
};

/** The focus is looked after by what is around them, or cannot be in them. */
const ALLOWED = ["AskOption.tsx: button disabled={props.disabled}", "AskQuestion.tsx: input disabled={props.locked}", "Notifications.tsx: input disabled={!desktopIsSupported()}"];

it("the scan sees plain buttons and fields, and whatever follows a call", () => {
  const markup = '<><button disabled>x</button><button type="submit" disabled={a}>x</button><input disabled={no()} /><Field disabled={isPosting()} /></>';
  expect(losing(markup)).toEqual(["button disabled", "button disabled={a}", "input disabled={no()}", "Field disabled={isPosting()}"]);
  expect(losing('<><Button busy={a.busy()} disabled={b} /><input readonly={isPosting()} /><AskOption disabled={props.locked} /><button aria-disabled="true">x</button></>')).toEqual([]);
});

it("buttons that cannot always be pressed are `Button`s, and fields that cannot always be written in are read-only", () => {
  const files = Object.entries(components).map(([path, source]) => [path.split("/").at(-1) ?? path, source] as const);
  expect(files.length).toBeGreaterThan(30);
  const found = files.filter(([name]) => name !== "Button.tsx").flatMap(([name, source]) => losing(source).map((each) => `${name}: ${each}`));
  expect(found.sort()).toEqual([...ALLOWED].sort());
});
