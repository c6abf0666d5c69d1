import { fireEvent, render, screen } from "@solidjs/testing-library";
import { createSignal, flush } from "solid-js";
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
