/** Work that can wait until nothing else is to be done. */

/** It is done after this long in any case. */
const WITHIN_MS = 5_000;

/** Runs something once the page is idle; the result takes that back. */
export const whenIdle = (run: () => void): (() => void) => {
  // Not every browser tells when it is idle.
  if (!("requestIdleCallback" in window)) {
    const timer = setTimeout(run, 0);
    return () => clearTimeout(timer);
  }
  const call = window.requestIdleCallback(run, { timeout: WITHIN_MS });
  return () => window.cancelIdleCallback(call);
};
