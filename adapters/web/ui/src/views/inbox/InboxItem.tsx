/** One open ask of the inbox: who asks, where, since when, and the ask itself. */
import { createMemo, createUniqueId, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AccountName } from "../../components/AccountName";
import { AskBlock } from "../../components/AskBlock";
import { presenceOf } from "../../model/select";
import type { Waiting } from "../../model/select";
import { clipped, visible } from "../../model/text";
import { PlaceName } from "../../shell/PlaceName";
import { PresenceOf } from "../../shell/Presence";
import { StoreContext } from "../../store/context";
import { inboxText } from "../../strings";
import { Age } from "./Age";

/** What stands around an ask is shown this far; the whole of it is one click away. */
const CONTEXT = 600;

export const InboxItem: Component<{ readonly waiting: Waiting }> = (props) => {
  const store = useContext(StoreContext);
  const heading = createUniqueId();
  const message = () => props.waiting.message;
  const offline = createMemo(() => {
    const state = store.state();
    return state.accounts.get(message().authorId)?.kind === "agent" && presenceOf(state, message().authorId) === "stopped";
  });
  const context = createMemo(() => message().blocks.flatMap((block) => (block.kind === "text" ? [clipped(visible(block.text), CONTEXT)] : [])));
  return (
    <article class={["inbox-item", { offline: offline() }]} aria-labelledby={heading} data-inbox-item>
      <header class="inbox-item-head">
        <h2 id={heading}>
          <AccountName id={message().authorId} /> <span class="visually-hidden">{inboxText.asksWord}</span>
        </h2>
        <PresenceOf id={message().authorId} />
        <span class="inbox-where">
          <PlaceName message={message()} link />
        </span>
        <Age at={message().at} />
      </header>
      <Show when={offline()}>
        <p class="inbox-offline">{inboxText.offline}</p>
      </Show>
      <For each={context()} keyed={false}>
        {(text) => (
          <p class="inbox-context" dir="auto">
            {text()}
          </p>
        )}
      </For>
      <AskBlock message={message()} ask={props.waiting.ask} channelId={props.waiting.channelId} />
    </article>
  );
};
