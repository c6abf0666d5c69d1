import "@testing-library/jest-dom/vitest";
import { cleanup } from "@solidjs/testing-library";
import { afterEach } from "vitest";

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
