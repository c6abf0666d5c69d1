/** What a view keeps by entries of the browser's history, for when back or forward come to one of them again. */
import type { Router } from "./router";

export interface ByEntry<T> {
  /** What was kept for the entry that the last move came back to. */
  back(): T | undefined;
  /** For the entry that is shown now. */
  keep(value: T): void;
}

/** No browser's history leads back over more. */
export const MOST_ENTRIES = 100;

export const byEntry = <T>(router: Pick<Router, "entry" | "isBack">): ByEntry<T> => {
  const kept = new Map<unknown, T>();
  return {
    back: () => (router.isBack() ? kept.get(router.entry()) : undefined),
    keep: (value) => {
      const entry = router.entry();
      // The latest come last.
      kept.delete(entry);
      kept.set(entry, value);
      if (kept.size > MOST_ENTRIES) kept.delete(kept.keys().next().value);
    },
  };
};
