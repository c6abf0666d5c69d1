/** One ask of the inbox: who asks, where, since when, and the ask itself. */
import { createMemo, createUniqueId, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AccountName } from "../../components/AccountName";
import { AskBlock } from "../../components/AskBlock";
import { AskUnsent } from "../../components/AskUnsent";
import { presenceOf } from "../../model/select";
import { topicNow } from "../../model/select";
import { clipped, visible } from "../../model/text";
import { PlaceName } from "../../shell/PlaceName";
import { PresenceOf } from "../../shell/Presence";
import { StoreContext } from "../../store/context";
import { inboxText } from "../../strings";
import { messagePath } from "../../router/paths";
import { Age } from "./Age";
import type { Shown } from "./follow";

/** What stands around an ask is shown this far; the whole of it is one click away. */
const CONTEXT = 600;

export const InboxItem: Component<{ readonly shown: Shown; readonly onDismiss: () => void }> = (props) => {
  const store = useContext(StoreContext);
  const heading = createUniqueId();
  const message = () => props.shown.waiting.message;
  const offline = createMemo(() => {
    const state = store.state();
    return props.shown.is === "open" && state.accounts.get(message().authorId)?.kind === "agent" && presenceOf(state, message().authorId) === "stopped";
  });
  const context = createMemo(() => message().blocks.flatMap((block) => (block.kind === "text" ? [clipped(visible(block.text), CONTEXT)] : [])));
  return (
    <article class={["inbox-item", { offline: offline() }]} aria-labelledby={heading} data-inbox-item>
      <header class="inbox-item-head">
        <h2 id={heading} tabindex="-1" data-ask-heading>
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
      <Show when={props.shown.is !== "gone"} fallback={<Gone {...props} />}>
        <AskBlock message={message()} ask={props.shown.waiting.ask} channelId={props.shown.waiting.channelId} />
      </Show>
      <Show when={props.shown.is !== "open"}>
        <p class="inbox-ended">
          <a href={messagePath(props.shown.waiting.channelId, topicNow(store.state(), message().topicId), message().id)}>{inboxText.inTopic}</a>
          <button type="button" class="quiet" aria-describedby={heading} onClick={() => props.onDismiss()}>
            {inboxText.dismiss}
          </button>
        </p>
      </Show>
    </article>
  );
};

/** An ask that ended while nothing was heard of the server: what was asked, and no way to answer. */
const Gone: Component<{ readonly shown: Shown }> = (props) => (
  <div class="inbox-gone">
    <For each={props.shown.waiting.ask.questions} keyed={false}>
      {(question) => <p dir="auto">{visible(question().question)}</p>}
    </For>
    <p role="status">{inboxText.gone}</p>
    <AskUnsent ask={props.shown.waiting.ask} />
  </div>
);
