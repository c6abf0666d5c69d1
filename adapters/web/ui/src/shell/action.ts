/** A call that a person started: whether it runs, and what went wrong the last time. */
import { createSignal } from "solid-js";
import { failureText } from "./failure";

export interface Action {
  readonly busy: () => boolean;
  readonly error: () => string | undefined;
  /** Starts nothing while one runs. Resolves to true if it went well; never rejects. */
  run(call: () => Promise<unknown>): Promise<boolean>;
  fail(text: string | undefined): void;
}

export const createAction = (): Action => {
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<string | undefined>(undefined);
  let running = false;
  return {
    busy,
    error,
    fail: (text) => setError(text),
    run: async (call) => {
      if (running) return false;
      running = true;
      setBusy(true);
      setError(undefined);
      try {
        await call();
        return true;
      } catch (failure) {
        setError(failureText(failure));
        return false;
      } finally {
        running = false;
        setBusy(false);
      }
    },
  };
};
