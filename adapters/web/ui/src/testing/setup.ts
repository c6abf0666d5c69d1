import "@testing-library/jest-dom/vitest";
import { cleanup } from "@solidjs/testing-library";
import { DEV, OBSERVE } from "solid-js";
import { afterEach, beforeEach, expect, vi } from "vitest";
import "./styles";

/** Files share a document: each test leaves it as it found it, and with it what it put in place of something else. */
const tidy = () => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  if (typeof document === "undefined") return;
  document.body.replaceChildren();
  document.title = "";
  for (const kept of [localStorage, sessionStorage]) kept.clear();
};

// What Solid warns of is a fault of the page: the test that caused it fails. Begun first, so it ends last.
beforeEach(({ onTestFinished }) => {
  onTestFinished(tidy);
  if (!DEV || !OBSERVE) throw new Error("the tests need the build of Solid that warns");
  const warned = OBSERVE.diagnostics.capture();
  onTestFinished(() => {
    const faults = warned.stop().filter((event) => event.severity !== "info");
    expect(faults.map((event) => event.message)).toEqual([]);
  });
});

afterEach(cleanup);

/** There is no layout here, so nothing ever changes its size. */
class StillObserver implements ResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
globalThis.ResizeObserver = StillObserver;

// The tests' document has no layout, so there is nowhere to scroll to; some tests have no document at all.
if (typeof Element === "function" && !("scrollIntoView" in Element.prototype)) Object.assign(Element.prototype, { scrollIntoView: () => undefined });

// Nor is there a top layer.
if (typeof HTMLDialogElement === "function" && !("showModal" in HTMLDialogElement.prototype))
  Object.defineProperty(HTMLDialogElement.prototype, "showModal", {
    value(this: HTMLDialogElement) {
      this.open = true;
    },
  });
