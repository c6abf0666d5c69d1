/** Calls of a view: what a person started, and what is read to be shown. Each says whether it runs and what went wrong the last time. */
import { createSignal, onCleanup } from "solid-js";
import { failureText } from "./failure";
import type { FieldNames } from "./failure";

export interface Action {
  readonly busy: () => boolean;
  readonly error: () => string | undefined;
  /** Starts nothing while one runs. Resolves to true if it went well; never rejects. `then` is given what it came to, unless the view is left by then. */
  run<T>(call: () => Promise<T>, then?: (result: T) => void): Promise<boolean>;
  fail(text: string | undefined): void;
}

/** `fields` are those of a form whose call it is. */
export const createAction = (fields: FieldNames = new Map()): Action => {
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<string | undefined>(undefined);
  let [running, isLeft] = [false, false];
  onCleanup(() => {
    isLeft = true;
  });
  return {
    busy,
    error,
    fail: (text) => setError(text),
    run: async (call, then) => {
      if (running) return false;
      running = true;
      setBusy(true);
      setError(undefined);
      try {
        const result = await call();
        if (!isLeft) then?.(result);
        return true;
      } catch (failure) {
        setError(failureText(failure, fields));
        return false;
      } finally {
        running = false;
        setBusy(false);
      }
    },
  };
};

export interface Reading {
  readonly error: () => string | undefined;
  /** Resolves once what is shown is as new as this call; never rejects. */
  refresh(): Promise<void>;
}

/** Asked for while a read runs, it reads once more after it: what that read saw may be older than what it was asked for. */
export const createReading = <T>(read: () => Promise<T>, show: (result: T) => void): Reading => {
  const action = createAction();
  let isStale = false;
  let running: Promise<void> | undefined;
  const settle = async () => {
    while (isStale) {
      isStale = false;
      await action.run(read, show);
    }
    running = undefined;
  };
  return {
    error: action.error,
    refresh: () => {
      isStale = true;
      running ??= settle();
      return running;
    },
  };
};
