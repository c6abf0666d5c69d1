/** What was sent from a view and is not known to be stored, with what can be done about each. */
import { createSignal, For, Show } from "solid-js";
import type { Component } from "solid-js";
import { visible } from "../model/text";
import type { TopicId } from "../model/types";
import { formOf } from "../store/ask-form";
import { mayDiscard, mayEdit } from "../store/outbox";
import type { Outbox as Box, Sent } from "../store/outbox";
import { composerText } from "../strings";
import { Sure } from "./Sure";
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
  return (
    <Show when={shown().length > 0}>
      <ul class="outbox" aria-label={composerText.unsent}>
        <For each={shown()} keyed={(each) => each.key}>
          {(each) => <Entry {...props} entry={each()} />}
        </For>
      </ul>
    </Show>
  );
};

const Entry: Component<Omit<OutboxProps, "sent"> & { readonly entry: Sent }> = (props) => {
  const [sure, setSure] = createSignal(false);
  const edit = () => {
    props.outbox.edit(props.entry.key, props.topicId);
    props.onGone();
  };
  const discard = () => {
    props.outbox.discard(props.entry.key);
    props.onGone();
  };
  return (
    <li>
      <p class="outbox-text" dir="auto">
        {visible(textOf(props.entry))}
      </p>
      <p class="outbox-note" role={isDoubtful(props.entry) ? "alert" : "status"} dir="auto">
        {wordsOf(props.entry)}
      </p>
      <div class="outbox-actions">
        <Show when={isDoubtful(props.entry)}>
          <button type="button" class="quiet" onClick={() => props.outbox.now(props.entry.key)}>
            {props.entry.status === "refused" ? composerText.sendAgain : composerText.sendNow}
          </button>
        </Show>
        <Show when={mayDiscard(props.entry)}>
          <Show
            when={mayEdit(props.entry)}
            fallback={
              <button type="button" class="quiet" onClick={() => setSure(true)}>
                {composerText.takeOff}
              </button>
            }
          >
            <button type="button" class="quiet" onClick={edit}>
              {composerText.edit}
            </button>
            <button type="button" class="quiet" onClick={discard}>
              {composerText.discard}
            </button>
          </Show>
        </Show>
      </div>
      <Show when={sure()}>
        <Sure question={composerText.takeOffSure[props.entry.kind]} yes={composerText.takeOff} onYes={discard} onNo={() => setSure(false)} />
      </Show>
    </li>
  );
};
