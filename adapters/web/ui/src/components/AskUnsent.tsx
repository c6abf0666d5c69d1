/** What a person had picked or typed for an ask that ended without taking it, so that no one believes it was sent. */
import { createMemo, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { visible } from "../model/text";
import type { Ask } from "../model/types";
import { StoreContext } from "../store/context";
import type { Unsent } from "../store/contract";
import { askText } from "../strings";
import { chosenLabels } from "./ask-view";

export const AskUnsent: Component<{ readonly ask: Ask }> = (props) => {
  const store = useContext(StoreContext);
  const unsent = createMemo(() => store.unsent().get(props.ask.id));
  return (
    <Show when={unsent()}>
      {(left) => (
        <div class="ask-unsent">
          {/* A refusal that the withdrawal caused is no error of the person's. */}
          <p role={left().refused !== undefined && props.ask.end.kind !== "cancelled" ? "alert" : "status"}>{sentence(props.ask, left())}</p>
          <For each={lines(props.ask, left())} keyed={false}>
            {(line) => (
              <p>
                {askText.youHad} <bdi dir="auto">{line()}</bdi>
              </p>
            )}
          </For>
        </div>
      )}
    </Show>
  );
};

const sentence = (ask: Ask, { refused }: Unsent): string => {
  switch (ask.end.kind) {
    case "answered":
      return refused === undefined ? askText.notSentAnswered : askText.notTakenAnswered;
    case "cancelled":
      return refused === undefined ? askText.notSentWithdrawn : askText.notTakenWithdrawn;
    case "open":
      // The outcome is not known: the server's words are all there is to say.
      return refused === undefined ? askText.notSent : visible(refused);
  }
};

/** One line for each question that had an answer. */
const lines = (ask: Ask, { answers }: Unsent): readonly string[] =>
  ask.questions.flatMap((question) => {
    const answer = answers.get(question.id);
    if (!answer) return [];
    const text = answer.text.trim() === "" ? [] : [visible(answer.text.trim())];
    return [[...chosenLabels(question, answer.chosen), ...text].join(", ")];
  });
