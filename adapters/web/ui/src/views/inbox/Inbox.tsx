/** All open asks of all channels. */
import { createMemo, For, Loading, onSettled, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { lazyPart } from "../../lazy";
import { inbox } from "../../model/select";
import { AppContext } from "../../shell/app";
import { StoreContext } from "../../store/context";
import type { State } from "../../store/contract";
import { inboxText, keyText } from "../../strings";
import { keepFocus, nextAsk } from "./focus";
import { InboxItem } from "./InboxItem";
import "./Inbox.css";

const FirstRun = lazyPart(() => import("./FirstRun"));

/** Nobody ever wrote in a channel of the person's. */
const needsFirstRun = (state: State): boolean => state.ready && [...state.topics.values()].every((topic) => topic.messageCount === 0);

export const Inbox: Component = () => {
  const store = useContext(StoreContext);
  const { keys, prefs } = useContext(AppContext);
  const asks = createMemo(() => {
    const oldestFirst = inbox(store.state());
    return prefs.inboxOrder() === "oldest" ? oldestFirst : [...oldestFirst].reverse();
  });
  let list: HTMLElement | undefined;
  onSettled(() => {
    const next = keys.register({ id: "next-ask", keys: "j", label: keyText.next, run: () => nextAsk(list, 1) });
    const previous = keys.register({ id: "previous-ask", keys: "k", label: keyText.previous, run: () => nextAsk(list, -1) });
    const release = list ? keepFocus(list) : undefined;
    return () => {
      next();
      previous();
      release?.();
    };
  });
  return (
    <div class="page inbox">
      <div class="page-head">
        <h1>{inboxText.heading(asks().length)}</h1>
        <Show when={asks().length > 1}>
          <label class="inbox-order">
            {inboxText.order}{" "}
            <select value={prefs.inboxOrder()} onChange={(event) => prefs.setInboxOrder(event.currentTarget.value === "newest" ? "newest" : "oldest")}>
              <option value="oldest">{inboxText.oldest}</option>
              <option value="newest">{inboxText.newest}</option>
            </select>
          </label>
        </Show>
      </div>
      <div ref={(element) => (list = element)}>
        <For each={asks()} keyed={(each) => each.ask.id}>
          {(each) => <InboxItem waiting={each()} />}
        </For>
      </div>
      <Show when={store.state().ready && asks().length === 0}>
        <Show
          when={needsFirstRun(store.state())}
          fallback={
            <div class="inbox-empty">
              <h2>{inboxText.empty}</h2>
              <p class="dim">{inboxText.emptyHelp}</p>
            </div>
          }
        >
          <Loading fallback={null}>
            <FirstRun />
          </Loading>
        </Show>
      </Show>
    </div>
  );
};
