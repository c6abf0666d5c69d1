import { fireEvent, render, screen } from "@solidjs/testing-library";
import { createSignal, flush } from "solid-js";
import ts from "typescript";
import { describe, expect, it, vi } from "vitest";
import { Form } from "../shell/Form";
import { focused } from "../testing/focus";
import { Button } from "./Button";

const view = () => {
  const [off, setOff] = createSignal({ busy: false, disabled: false });
  const [onClick, onSubmit] = [vi.fn(), vi.fn()];
  render(() => (
    <Form onSubmit={onSubmit} error={undefined}>
      <input aria-label="Field" />
      <Button type="submit" busy={off().busy} disabled={off().disabled} onClick={onClick}>
        Do
      </Button>
    </Form>
  ));
  const set = (change: Partial<{ busy: boolean; disabled: boolean }>) => {
    setOff((before) => ({ ...before, ...change }));
    flush();
  };
  const button = screen.getByRole("button", { name: "Do" });
  const focus = (element: HTMLElement) => {
    element.focus();
    flush();
  };
  return { set, button, focus, onClick, onSubmit, field: screen.getByLabelText("Field") };
};

describe("a button whose call is under way", () => {
  it("keeps the focus, says that it does nothing, and does nothing", () => {
    const { set, button, focus, onClick, onSubmit } = view();
    focus(button);
    set({ busy: true });
    expect(focused()).toBe(button);
    expect(button).toHaveAttribute("aria-disabled", "true");
    button.click();
    expect([onClick, onSubmit].map((each) => each.mock.calls.length)).toEqual([0, 0]);
    set({ busy: false });
    expect(button).toHaveAttribute("aria-disabled", "false");
    button.click();
    expect([onClick, onSubmit].map((each) => each.mock.calls.length)).toEqual([1, 1]);
  });
  it("can be come to, also when something is missing by then", () => {
    const { set, button, focus } = view();
    set({ busy: true, disabled: true });
    focus(button);
    expect(focused()).toBe(button);
  });
});

describe("a button that lacks something", () => {
  it("is disabled where the focus is elsewhere", () => {
    const { set, button, focus, field } = view();
    focus(field);
    set({ disabled: true });
    expect(button).toBeDisabled();
  });
  it("keeps the focus until it is left, and does nothing meanwhile", () => {
    const { set, button, focus, field, onClick, onSubmit } = view();
    focus(button);
    set({ disabled: true });
    expect(focused()).toBe(button);
    expect(button).toHaveAttribute("aria-disabled", "true");
    button.click();
    expect([onClick, onSubmit].map((each) => each.mock.calls.length)).toEqual([0, 0]);
    focus(field);
    expect(button).toBeDisabled();
  });
  it("keeps the focus when the window is left", () => {
    const { set, button, focus } = view();
    focus(button);
    set({ disabled: true });
    // The window's own: the element stays the active one.
    fireEvent.blur(button);
    flush();
    expect(focused()).toBe(button);
  });
});

const sources = import.meta.glob<string>(["../**/*.tsx", "!../**/*.test.tsx"], { query: "?raw", import: "default", eager: true });

/** What a browser takes the focus from. */
const FOCUSED = new Set(["button", "fieldset", "input", "select", "textarea"]);

/** Elements that lose the focus: whatever can hold it and is `disabled`, and any component that is so while something is under way. */
const losing = (name: string, source: string): readonly string[] => {
  const found: string[] = [];
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.ESNext, true, ts.ScriptKind.TSX);
  const visit = (node: ts.Node): void => {
    if (ts.isJsxAttribute(node) && node.name.getText(file) === "disabled") {
      const tag = node.parent.parent.tagName.getText(file);
      const isUnderWay = /busy|posting|saving|sending|loading/i.test(node.initializer?.getText(file) ?? "");
      if (FOCUSED.has(tag) || isUnderWay) found.push(`${tag} ${node.getText(file)}`);
    }
    node.forEachChild(visit);
  };
  visit(file);
  return found;
};

/** The focus is looked after by what is around them, or cannot be in them. */
const ALLOWED = ["AskOption.tsx: button disabled={props.disabled}", "AskQuestion.tsx: input disabled={props.locked}", "Notifications.tsx: input disabled={!desktopIsSupported()}"];

describe("nothing of the page is disabled under the focus", () => {
  it("the scan sees plain buttons and fields, and whatever follows a call", () => {
    const markup = '<><button disabled>x</button><button type="submit" disabled={a}>x</button><input disabled={no()} /><Field disabled={isPosting()} /></>';
    expect(losing("x.tsx", markup)).toEqual(["button disabled", "button disabled={a}", "input disabled={no()}", "Field disabled={isPosting()}"]);
    expect(losing("x.tsx", '<><Button busy={a.busy()} disabled={b} /><input readonly={isPosting()} /><AskOption disabled={props.locked} /><button aria-disabled="true">x</button></>')).toEqual([]);
  });
  it("buttons that cannot always be pressed are `Button`s, and fields that cannot always be written in are read-only", () => {
    const files = Object.entries(sources).map(([name, source]) => [name.split("/").at(-1) ?? name, source] as const);
    expect(files.length).toBeGreaterThan(30);
    const found = files.filter(([name]) => name !== "Button.tsx").flatMap(([name, source]) => losing(name, source).map((each) => `${name}: ${each}`));
    expect(found.sort()).toEqual([...ALLOWED].sort());
  });
});
