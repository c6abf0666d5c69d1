/** One option of a question: a button, and what the asker wrote about it. */
import { Show } from "solid-js";
import type { Component } from "solid-js";
import { tabIndex } from "../keyboard/reach";
import { visible } from "../model/text";
import type { AskOption as Option } from "../model/types";
import { askText } from "../strings";
import { optionName } from "./ask-view";

export interface AskOptionProps {
  readonly option: Option;
  readonly index: number;
  readonly pressed: boolean;
  readonly disabled: boolean;
  readonly recommended: boolean;
  /** The one option of the group that Tab reaches. */
  readonly tabStop: boolean;
  readonly onPick: () => void;
  readonly onFocus: () => void;
}

export const AskOption: Component<AskOptionProps> = (props) => {
  const previewStop = tabIndex();
  const shownLabel = () => optionName(props.option, props.index);
  return (
    <div class={["ask-option-row", { pressed: props.pressed }]}>
      <button
        type="button"
        class={["ask-option", { recommended: props.recommended }]}
        dir="auto"
        aria-pressed={props.pressed ? "true" : "false"}
        disabled={props.disabled}
        tabindex={props.tabStop ? 0 : -1}
        onClick={() => props.onPick()}
        onFocus={() => props.onFocus()}
      >
        <span class="ask-option-mark" aria-hidden="true" />
        <span class="ask-option-text">
          <span class="ask-option-head">
            <span class="ask-option-label">{shownLabel()}</span>
            <Show when={props.recommended}>
              <span class="ask-recommended">{askText.recommended}</span>
            </Show>
          </span>
          <Show when={props.option.description !== ""}>
            <span class="ask-option-description">{visible(props.option.description)}</span>
          </Show>
        </span>
        <Show when={props.index < 9}>
          <kbd class="ask-option-key" aria-hidden="true" data-key={props.index + 1} />
        </Show>
      </button>
      <Show when={props.option.preview !== ""}>
        <pre class="ask-option-preview" tabindex={previewStop()} role="group" aria-label={askText.preview(shownLabel())} dir="auto">
          <code>{visible(props.option.preview)}</code>
        </pre>
      </Show>
    </div>
  );
};
