/** A text to take along, and a button that copies it. */
import { createSignal } from "solid-js";
import type { Component } from "solid-js";
import { copyText } from "../strings";

export const Copyable: Component<{ readonly text: string; readonly label: string }> = (props) => {
  const [said, setSaid] = createSignal("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      setSaid(copyText.copied);
    } catch {
      // The text is in view and selects as a whole.
      setSaid(copyText.failed);
    }
  };
  return (
    <div class="copyable">
      <code class="secret">{props.text}</code>
      <div class="actions">
        <button type="button" onClick={() => void copy()}>
          {props.label}
        </button>
        <span role="status" class="dim small">
          {said()}
        </span>
      </div>
    </div>
  );
};
