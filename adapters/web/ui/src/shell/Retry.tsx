/** The ways on from what broke: once more, or the whole page anew. */
import type { Component } from "solid-js";
import { shellText } from "../strings";

export const Retry: Component<{ readonly onAgain: () => void }> = (props) => (
  <div class="actions">
    <button type="button" class="primary" onClick={() => props.onAgain()}>
      {shellText.again}
    </button>
    <button type="button" onClick={() => window.location.reload()}>
      {shellText.reload}
    </button>
  </div>
);
