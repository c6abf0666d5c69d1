/** The page cannot start: says why, as text. */
import type { Component } from "solid-js";
import { shellText } from "../strings";

export const BootError: Component<{ readonly text: string; readonly onAgain: () => void }> = (props) => (
  <main class="page" aria-label={shellText.bootFailed}>
    <div role="alert">
      <h1>{shellText.bootFailed}</h1>
      <p>{shellText.bootFailedHelp}</p>
      <p class="secret" dir="auto">
        {props.text}
      </p>
    </div>
    <div class="actions">
      <button type="button" class="primary" onClick={() => props.onAgain()}>
        {shellText.again}
      </button>
    </div>
  </main>
);
