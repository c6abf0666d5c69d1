/** Asks before what cannot be undone. The question gets the focus, not the answer. */
import { onSettled } from "solid-js";
import type { Component } from "solid-js";
import { shellText } from "../strings";
import "./Sure.css";

export const Sure: Component<{ readonly question: string; readonly yes?: string; readonly onYes: () => void; readonly onNo: () => void }> = (props) => {
  let box: HTMLElement | undefined;
  onSettled(() => box?.focus());
  return (
    <div
      class="sure"
      role="group"
      aria-label={props.question}
      tabindex="-1"
      ref={(element) => (box = element)}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        props.onNo();
      }}
    >
      <p dir="auto">{props.question}</p>
      <div class="actions">
        <button type="button" class="danger" onClick={() => props.onYes()}>
          {props.yes ?? shellText.sure}
        </button>
        <button type="button" onClick={() => props.onNo()}>
          {shellText.cancel}
        </button>
      </div>
    </div>
  );
};
