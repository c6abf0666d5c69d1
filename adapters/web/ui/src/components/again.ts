/** Sends once more what nobody knows the outcome of: under the same key the server stores it once, and says that it did. */
import { createEffect, createSignal, useContext } from "solid-js";
import { StoreContext } from "../store/context";
import { AGAIN_AFTER_MS, TRIES } from "../store/retry";

/** `isUnknown` is false as soon as the person has changed what was sent. `again` never rejects. */
export function createAgain(isUnknown: () => boolean, again: () => Promise<void>): void {
  const store = useContext(StoreContext);
  const [tries, setTries] = createSignal(0);
  createEffect(
    () => (isUnknown() && store.connection().kind === "live" ? tries() : undefined),
    (now) => {
      if (now === undefined) setTries(0);
      if (now === undefined || now >= TRIES) return undefined;
      const timer = setTimeout(() => void again().finally(() => setTries((count) => count + 1)), AGAIN_AFTER_MS * 2 ** now);
      return () => clearTimeout(timer);
    },
  );
}
