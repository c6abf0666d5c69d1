/** What a browser gives the store: clocks, timers, the tab's storage, and news that the network may be back. */
import type { World } from "../sync/run";
import type { Keep } from "./kept";

/** Ms since 1970 by a clock that never jumps while the page lives. */
export const steady = (): number => performance.timeOrigin + performance.now();

export const browserWorld: World = {
  now: () => Date.now(),
  random: () => Math.random(),
  // Not `randomUUID`, which browsers keep from pages that came over plain HTTP.
  newKey: () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (drawn) => drawn.toString(36)).join("-"),
  after: (ms, then) => {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
  isWatched: () => document.visibilityState === "visible",
};

/** The storage, or nothing where the browser forbids it. */
export const storage = (of: "session" | "local"): Keep | undefined => {
  try {
    return of === "session" ? window.sessionStorage : window.localStorage;
  } catch {
    // Forbidden by the browser's settings: the page works, it only keeps nothing.
    return undefined;
  }
};

/** Calls back when the browser comes online or the tab is looked at again, and when the browser goes offline. */
export const onNetwork = (wake: () => void, offline: () => void): (() => void) => {
  const seen = (): void => {
    if (browserWorld.isWatched()) wake();
  };
  window.addEventListener("online", wake);
  window.addEventListener("offline", offline);
  document.addEventListener("visibilitychange", seen);
  return () => {
    window.removeEventListener("online", wake);
    window.removeEventListener("offline", offline);
    document.removeEventListener("visibilitychange", seen);
  };
};
