/** A view that broke: says so instead of a blank page. */
import { createEffect, useContext } from "solid-js";
import type { Component } from "solid-js";
import { errorText, visible } from "../model/text";
import { StoreContext } from "../store/context";
import { shellText } from "../strings";
import { Retry } from "./Retry";

export const Broken: Component<{ readonly error: unknown; readonly onAgain: () => void }> = (props) => {
  const store = useContext(StoreContext);
  createEffect(
    () => props.error,
    (error) => {
      store.report("view", error);
    },
  );
  return (
    <div class="page" role="alert">
      <h1>{shellText.broken}</h1>
      <p>{shellText.brokenHelp}</p>
      <p class="secret">{visible(errorText(props.error))}</p>
      <Retry onAgain={props.onAgain} />
    </div>
  );
};
