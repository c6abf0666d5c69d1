/** Whether an agent is there: a shape, a colour and a word, never the colour alone. */
import { createMemo, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { presenceOf } from "../model/select";
import type { AccountId } from "../model/types";
import { StoreContext } from "../store/context";
import { shellText } from "../strings";
import "./Presence.css";

/** `word` false leaves the word to those who do not see the dot. */
export const Presence: Component<{ readonly id: AccountId; readonly word?: boolean }> = (props) => {
  const store = useContext(StoreContext);
  const state = createMemo(() => presenceOf(store.state(), props.id));
  return (
    <span class={["presence", state()]} title={shellText.presence[state()]}>
      <span class="presence-dot" aria-hidden="true" />
      <span class={{ "visually-hidden": props.word === false }}>{shellText.presence[state()]}</span>
    </span>
  );
};

/** The dot of an account that may be an agent; nothing for others. */
export const PresenceOf: Component<{ readonly id: AccountId; readonly word?: boolean }> = (props) => {
  const store = useContext(StoreContext);
  return (
    <Show when={store.state().accounts.get(props.id)?.kind === "agent"}>
      <Presence id={props.id} word={props.word ?? true} />
    </Show>
  );
};
