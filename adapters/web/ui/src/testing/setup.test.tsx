import { render, screen } from "@solidjs/testing-library";
import { createSignal } from "solid-js";
import type { Component } from "solid-js";
import { describe, expect, it, vi } from "vitest";

const Still: Component = () => {
  const [count] = createSignal(1);
  const once = count();
  return <p>{once}</p>;
};

describe("what Solid warns of", () => {
  it.fails("fails the test that caused it", () => void render(() => <Still />));
});

describe("what a person cannot see", () => {
  it("is found by nobody who looks for its role", () => {
    render(() => (
      <>
        <button hidden>by an attribute</button>
        <div hidden>
          <button>by what is around it</button>
        </div>
        <button style={{ display: "none" }}>by its style</button>
        <dialog>
          <button>by a dialog that is closed</button>
        </dialog>
        <button>seen</button>
      </>
    ));
    expect(screen.getAllByRole("button").map((button) => button.textContent)).toEqual(["seen"]);
  });
});

describe("what a test leaves", () => {
  it("is left, to begin with", () => {
    vi.stubGlobal("left", 1);
    vi.spyOn(document, "hasFocus").mockReturnValue(true);
    vi.useFakeTimers();
    document.body.append("left");
    document.title = "left";
    localStorage.setItem("left", "1");
    expect(document.hasFocus()).toBe(true);
  });
  it("is not there for the next one", () => {
    expect([document.title, document.body.textContent, localStorage.length, document.hasFocus()]).toEqual(["", "", 0, false]);
    expect("left" in globalThis).toBe(false);
    expect(vi.isFakeTimers()).toBe(false);
  });
});
