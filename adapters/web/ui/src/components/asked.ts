/** A question before what cannot be undone: whether it is asked. */
import { createEffect, createSignal } from "solid-js";

/** `about` names what it is about. Once that is something else, or nothing, nothing is asked until somebody asks anew. */
export const createAsked = (about: () => string | undefined) => {
  const [asked, setAsked] = createSignal(false);
  createEffect(about, () => {
    setAsked(false);
  });
  return [asked, setAsked] as const;
};
