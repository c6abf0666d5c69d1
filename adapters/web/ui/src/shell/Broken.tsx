/** A view that broke: says so instead of a blank page. */
import { useContext } from "solid-js";
import type { Component } from "solid-js";
import { visible } from "../model/text";
import { StoreContext } from "../store/context";
import { shellText } from "../strings";

export const Broken: Component<{ readonly error: unknown; readonly onAgain: () => void }> = (props) => {
  const store = useContext(StoreContext);
  store.report("view", props.error);
  return (
    <div class="page" role="alert">
      <h1>{shellText.broken}</h1>
      <p>{shellText.brokenHelp}</p>
      <p class="secret">{visible(props.error instanceof Error ? props.error.message : String(props.error))}</p>
      <div class="actions">
        <button type="button" class="primary" onClick={() => props.onAgain()}>
          {shellText.again}
        </button>
        <button type="button" onClick={() => window.location.reload()}>
          {shellText.reload}
        </button>
      </div>
    </div>
  );
};
