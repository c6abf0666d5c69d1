/** One question of an ask: its text, its options and its text field. */
import { createSignal, createUniqueId, For, Show } from "solid-js";
import type { Component } from "solid-js";
import { rovingTarget } from "../keyboard/roving";
import { visible, visibleLine } from "../model/text";
import type { AskQuestion as Question } from "../model/types";
import { isAnswered } from "../store/asks";
import type { StagedAnswer } from "../store/contract";
import { askText } from "../strings";
import { AskOption } from "./AskOption";
import { hintOf, placeholderOf, textProblem } from "./ask-view";

export interface AskQuestionProps {
  readonly question: Question;
  readonly answer: StagedAnswer;
  /** Nothing is taken any more. */
  readonly closed: boolean;
  /** The one pick of a single choice is made. */
  readonly settled: boolean;
  /** The recorded answer is shown in place of the field. */
  readonly answered: boolean;
  readonly onPick: (optionId: string) => void;
  readonly onText: (text: string) => void;
  /** Takes the pick of a settled question back. */
  readonly onClear: () => void;
}

export const AskQuestion: Component<AskQuestionProps> = (props) => {
  const title = createUniqueId();
  const hint = createUniqueId();
  const problem = createUniqueId();
  const locked = () => props.closed || props.settled;
  return (
    <div class="ask-question" role="group" aria-labelledby={title} aria-describedby={hint} tabindex="-1">
      <Show when={props.question.header !== ""}>
        <bdi class="ask-header" dir="auto">
          {visibleLine(props.question.header)}
        </bdi>
      </Show>
      <p id={title} class="ask-text" dir="auto">
        {visible(props.question.question)}
      </p>
      <p id={hint} class="ask-hint" hidden={props.closed}>
        {hintOf(props.question)}
      </p>
      <Show when={props.question.options.length > 0}>
        <Options {...props} locked={locked()} />
      </Show>
      <Show when={props.settled && !props.closed}>
        <button type="button" class="quiet ask-change" aria-describedby={title} onClick={() => props.onClear()}>
          {askText.change}
        </button>
      </Show>
      <Show when={props.answered} fallback={<Field {...props} locked={locked()} title={title} problem={problem} />}>
        <Recorded answer={props.answer} hasOptions={props.question.options.length > 0} />
      </Show>
    </div>
  );
};

const Options: Component<AskQuestionProps & { readonly locked: boolean }> = (props) => {
  const [stop, setStop] = createSignal(0);
  const tabStop = () => Math.min(stop(), props.question.options.length - 1);
  const move = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLButtonElement)) return;
    const buttons = [...event.currentTarget.querySelectorAll<HTMLButtonElement>(".ask-option")];
    const target = rovingTarget(event.key, buttons.indexOf(event.target), buttons.length);
    if (target === undefined) return;
    event.preventDefault();
    buttons[target]?.focus();
  };
  return (
    <div class={["ask-options", { multiple: props.question.multiple }]} onKeyDown={move}>
      <For each={props.question.options} keyed={false}>
        {(option, index) => (
          <AskOption
            option={option()}
            index={index}
            pressed={props.answer.chosen.includes(option().id)}
            disabled={props.locked}
            recommended={props.question.recommended === index}
            tabStop={tabStop() === index}
            onPick={() => props.onPick(option().id)}
            onFocus={() => setStop(index)}
          />
        )}
      </For>
    </div>
  );
};

/** No form surrounds it, so Enter does nothing here. */
const Field: Component<AskQuestionProps & { readonly locked: boolean; readonly title: string; readonly problem: string }> = (props) => (
  <>
    <input
      type="text"
      class="ask-input"
      dir="auto"
      autocomplete="off"
      aria-labelledby={props.title}
      aria-invalid={textProblem(props.answer) === undefined ? "false" : "true"}
      aria-describedby={props.problem}
      placeholder={placeholderOf(props.question)}
      value={props.answer.text}
      disabled={props.locked}
      onInput={(event) => props.onText(event.currentTarget.value)}
    />
    <p id={props.problem} class="ask-problem" aria-live="polite">
      {textProblem(props.answer)}
    </p>
  </>
);

const Recorded: Component<{ readonly answer: StagedAnswer; readonly hasOptions: boolean }> = (props) => (
  <Show when={isAnswered(props.answer)} fallback={<p class="ask-recorded skipped">{askText.skipped}</p>}>
    <Show when={props.answer.text !== ""}>
      <p class="ask-recorded">
        <Show when={props.hasOptions}>{askText.ownWords} </Show>
        <bdi dir="auto">{visible(props.answer.text)}</bdi>
      </p>
    </Show>
  </Show>
);
