/** What was sent from a view and is not known to be stored, with what can be done about each. */
import { For, Show } from "solid-js";
import type { Component } from "solid-js";
import { visible } from "../model/text";
import type { TopicId } from "../model/types";
import { formOf } from "../store/ask-form";
import { isOpenToChange } from "../store/outbox";
import type { Outbox as Box, Sent } from "../store/outbox";
import { composerText } from "../strings";
import "./controls.css";
import "./Outbox.css";

export interface OutboxProps {
  readonly sent: readonly Sent[];
  readonly outbox: Box;
  /** Where messages are shown, and written anew. */
  readonly topicId?: TopicId;
  /** One that the person did something about is gone, and the focus with it. */
  readonly onGone: () => void;
}

/** That a message is on its way for the first time is no news; what waits behind one that may be lost is. */
const worthTelling = (sent: readonly Sent[]): readonly Sent[] => {
  const first = sent.findIndex((each) => each.kind === "message" && each.status === "unknown");
  return sent.filter((each, index) => each.kind !== "message" || isDoubtful(each) || (first >= 0 && index > first));
};

const isDoubtful = ({ status }: Sent): boolean => status === "unknown" || status === "refused";

const textOf = ({ kind, name, text }: Sent): string => {
  switch (kind) {
    case "message":
      return text;
    case "ask":
      return formOf(text).questions.map(({ question }) => question).join("\n");
    case "topic":
      return `${name}\n${text}`;
  }
};

const wordsOf = ({ status, said }: Sent): string => {
  switch (status) {
    case "waiting":
      return composerText.waits;
    case "sending":
      return composerText.sending;
    case "unknown":
      return composerText.unknown(visible(said));
    case "refused":
      return composerText.failed(visible(said));
  }
};

export const Outbox: Component<OutboxProps> = (props) => {
  const shown = () => worthTelling(props.sent);
  const act = (act: () => void) => {
    act();
    props.onGone();
  };
  return (
    <Show when={shown().length > 0}>
      <ul class="outbox" aria-label={composerText.unsent}>
        <For each={shown()} keyed={(each) => each.key}>
          {(each) => (
            <li>
              <p class="outbox-text" dir="auto">
                {visible(textOf(each()))}
              </p>
              <p class="outbox-note" role={isDoubtful(each()) ? "alert" : "status"} dir="auto">
                {wordsOf(each())}
              </p>
              <div class="outbox-actions">
                <Show when={isDoubtful(each())}>
                  <button type="button" class="quiet" onClick={() => props.outbox.now(each().key)}>
                    {each().status === "refused" ? composerText.sendAgain : composerText.sendNow}
                  </button>
                </Show>
                <Show when={isOpenToChange(each())}>
                  <button type="button" class="quiet" onClick={() => act(() => props.outbox.edit(each().key, props.topicId))}>
                    {composerText.edit}
                  </button>
                  <button type="button" class="quiet" onClick={() => act(() => props.outbox.discard(each().key))}>
                    {composerText.discard}
                  </button>
                </Show>
              </div>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
};
