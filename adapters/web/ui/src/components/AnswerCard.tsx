/** An answer that was given: who, and one line for each question. It takes no input. */
import { For, Show } from "solid-js";
import type { Component } from "solid-js";
import { visible } from "../model/text";
import type { AccountId, Ask, AskQuestion } from "../model/types";
import { askText } from "../strings";
import { AccountName } from "./AccountName";
import { chosenLabels } from "./ask-view";
import "./AnswerCard.css";

export const AnswerCard: Component<{ readonly ask: Ask; readonly authorId: AccountId }> = (props) => (
  <div class="answer-card">
    <p class="answer-title">
      <AccountName id={props.authorId} /> {askText.answerCard}
    </p>
    <dl>
      <For each={props.ask.questions} keyed={false}>
        {(question) => <Line question={question()} />}
      </For>
    </dl>
  </div>
);

const Line: Component<{ readonly question: AskQuestion }> = (props) => {
  const labels = () => chosenLabels(props.question, props.question.chosen);
  const skipped = () => labels().length === 0 && props.question.customText === "";
  return (
    <div class="answer-line">
      <dt dir="auto">{visible(props.question.question)}</dt>
      <dd class={{ skipped: skipped() }} dir="auto">
        <Show when={!skipped()} fallback={askText.skipped}>
          <For each={labels()} keyed={false}>
            {(label) => <span class="answer-label">{label()}</span>}
          </For>
          <Show when={props.question.customText !== ""}>
            <span class="answer-text">{visible(props.question.customText)}</span>
          </Show>
        </Show>
      </dd>
    </div>
  );
};
