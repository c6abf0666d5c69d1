/** Asks before what cannot be undone. The question gets the focus, not the answer; afterwards what opened it has it again. */
import { onSettled } from "solid-js";
import type { Component } from "solid-js";
import { keepFocus } from "../keyboard/keep-focus";
import { shellText } from "../strings";
import "./Sure.css";

export const Sure: Component<{ readonly question: string; readonly yes?: string; readonly onYes: () => void; readonly onNo: () => void }> = (props) => {
  let box: HTMLElement | undefined;
  const opener = document.activeElement;
  onSettled(() => box?.focus());
  return (
    <div
      class="sure"
      role="group"
      aria-label={props.question}
      tabindex="-1"
      ref={(element) => {
        box = element;
        keepFocus({ or: () => opener })(element);
      }}
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
