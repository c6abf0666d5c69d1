/** Messages of a topic that were sent and are not known to be stored, with what can be done about each. */
import { For, Show } from "solid-js";
import type { Component } from "solid-js";
import { visible } from "../model/text";
import type { TopicId } from "../model/types";
import type { Outbox as Box, Sent } from "../store/outbox";
import { composerText } from "../strings";
import "./controls.css";
import "./Outbox.css";

export interface OutboxProps {
  readonly sent: readonly Sent[];
  readonly outbox: Box;
  /** Where they are shown, and written anew. */
  readonly topicId: TopicId;
  /** One that the person did something about is gone, and the focus with it. */
  readonly onGone: () => void;
}

/** What is on its way for the first time is no news; what waits behind one that may be lost is. */
const worthTelling = (sent: readonly Sent[]): readonly Sent[] => {
  const first = sent.findIndex((each) => each.status === "unknown");
  return sent.filter((each, index) => each.status !== "sending" || (first >= 0 && index > first));
};

const wordsOf = ({ status, said }: Sent): string => {
  switch (status) {
    case "sending":
      return composerText.waits;
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
                {visible(each().text)}
              </p>
              <p class="outbox-note" role={each().status === "sending" ? "status" : "alert"} dir="auto">
                {wordsOf(each())}
              </p>
              <div class="outbox-actions">
                <Show when={each().status !== "sending"}>
                  <button type="button" class="quiet" onClick={() => props.outbox.now(each().key)}>
                    {each().status === "refused" ? composerText.sendAgain : composerText.sendNow}
                  </button>
                </Show>
                <button type="button" class="quiet" onClick={() => act(() => props.outbox.edit(each().key, props.topicId))}>
                  {composerText.edit}
                </button>
                <button type="button" class="quiet" onClick={() => act(() => props.outbox.discard(each().key))}>
                  {composerText.discard}
                </button>
              </div>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
};
