import "@testing-library/jest-dom/vitest";
import { cleanup } from "@solidjs/testing-library";
import { DEV, OBSERVE } from "solid-js";
import { afterEach, beforeEach, expect, vi } from "vitest";

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

/** What hides itself or looks otherwise by its attributes. */
const STYLED = "[hidden], [style], dialog, details, input[type=hidden]";

/** There is no layout here, so nothing ever changes its size. */
class StillObserver implements ResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
globalThis.ResizeObserver = StillObserver;

// The tests' document has no layout, so there is nowhere to scroll to; some tests have no document at all.
if (typeof Element === "function" && !("scrollIntoView" in Element.prototype)) Object.assign(Element.prototype, { scrollIntoView: () => undefined });

// Nor are there styles of the page. Those of the browser hang on the kind of an element alone, but for these; to work them out
// for each element again takes half of the time of all tests.
if (typeof window !== "undefined") {
  const workOut = window.getComputedStyle.bind(window);
  const known = new Map<string, CSSStyleDeclaration>();
  window.getComputedStyle = (element, pseudo) => {
    if (pseudo != null || !(element instanceof HTMLElement) || element.matches(STYLED)) return workOut(element, pseudo);
    const style = known.get(element.localName) ?? workOut(document.createElement(element.localName));
    known.set(element.localName, style);
    return style;
  };
}

// Nor is there a top layer.
if (typeof HTMLDialogElement === "function" && !("showModal" in HTMLDialogElement.prototype))
  Object.defineProperty(HTMLDialogElement.prototype, "showModal", {
    value(this: HTMLDialogElement) {
      this.open = true;
    },
  });
