/** All open asks of all channels, and those that ended while the view was open. */
import { createEffect, createMemo, createSignal, For, Loading, onSettled, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { keepFocus } from "../../keyboard/keep-focus";
import { lazyPart } from "../../lazy";
import { topicNow } from "../../model/select";
import type { AskId } from "../../model/types";
import { AppContext } from "../../shell/app";
import { StoreContext } from "../../store/context";
import type { State } from "../../store/contract";
import { inboxText } from "../../strings";
import { askInFocus, focusHeading, nextAsk } from "./focus";
import { follow, NOTHING } from "./follow";
import type { Listed, Wish } from "./follow";
import { InboxItem } from "./InboxItem";
import "./Inbox.css";

const FirstRun = lazyPart(() => import("./FirstRun"));

/** Nobody ever wrote in a channel of the person's. */
const needsFirstRun = (state: State): boolean => state.ready && [...state.topics.values()].every((topic) => topic.messageCount === 0);

export const Inbox: Component = () => {
  const store = useContext(StoreContext);
  const { keys, prefs } = useContext(AppContext);
  const [dismissed, setDismissed] = createSignal<ReadonlySet<AskId>>(new Set());
  const [calls, setCalls] = createSignal(0);
  const wish = createMemo<Wish>(() => ({ order: prefs.inboxOrder(), calls: calls() }));
  const listed = createMemo<Listed>((before) => follow(before ?? NOTHING, store.state(), store.unsent(), dismissed(), wish()));
  const asks = () => listed().shown;
  const held = () => listed().held;
  const closed = createMemo(() => asks().filter((each) => each.is !== "open"));
  const open = () => asks().length - closed().length + held().length;
  /** The ask that takes the focus once it is shown. */
  let next: AskId | undefined;
  const showHeld = () => {
    next = held()[0]?.waiting.ask.id;
    setCalls((count) => count + 1);
  };
  // How an ask ended that nobody told of stands in its topic, most likely among the newest messages.
  createEffect(
    () => closed().filter((each) => each.is === "gone" && store.state().topics.has(topicNow(store.state(), each.waiting.message.topicId))),
    (gone) => {
      for (const { waiting } of gone) store.openTopic(waiting.channelId, waiting.message.topicId);
    },
  );
  // Who holds the focus is asked before the page is changed: an element that goes or is disabled loses it.
  createEffect(
    () => ({ all: asks(), held: askInFocus() }),
    ({ all, held }) => {
      if (next !== undefined && focusHeading(list, next)) next = undefined;
      const at = all.findIndex((each) => each.waiting.ask.id === held);
      if (at < 0 || all[at]?.is === "open") return;
      const heir = [...all.slice(at), ...all].find((each) => each.is === "open");
      if (!heir || !focusHeading(list, heir.waiting.ask.id)) title?.focus({ preventScroll: true });
    },
  );
  const dismiss = (ids: readonly AskId[]) => {
    for (const id of ids) store.asks.dismiss(id);
    setDismissed((before) => new Set([...before, ...ids]));
    title?.focus({ preventScroll: true });
  };
  let title: HTMLElement | undefined;
  let list: HTMLElement | undefined;
  onSettled(() => {
    const next = keys.register({ id: "next-ask", keys: "j", run: () => nextAsk(list, 1) });
    const previous = keys.register({ id: "previous-ask", keys: "k", run: () => nextAsk(list, -1) });
    return () => {
      next();
      previous();
    };
  });
  return (
    <div class="page inbox" ref={keepFocus({ or: () => title })}>
      <div class="page-head">
        <h1 ref={(element) => (title = element)} tabindex="-1">
          {inboxText.heading(open())}
        </h1>
        <Show when={asks().length > 0}>
          <label class="inbox-order">
            {inboxText.order}{" "}
            <select value={prefs.inboxOrder()} onChange={(event) => prefs.setInboxOrder(event.currentTarget.value === "newest" ? "newest" : "oldest")}>
              <option value="oldest">{inboxText.oldest}</option>
              <option value="newest">{inboxText.newest}</option>
            </select>
          </label>
        </Show>
      </div>
      <Show when={held().length > 0}>
        <div class="inbox-held">
          <button type="button" class="primary" onClick={showHeld}>
            {inboxText.held(held().length)}
          </button>
        </div>
      </Show>
      <div ref={(element) => (list = element)}>
        <For each={asks()} keyed={(each) => each.waiting.ask.id}>
          {(each) => <InboxItem shown={each()} onDismiss={() => dismiss([each().waiting.ask.id])} />}
        </For>
      </div>
      <Show when={closed().length > 1}>
        <p>
          <button type="button" class="quiet" onClick={() => dismiss(closed().map((each) => each.waiting.ask.id))}>
            {inboxText.dismissAll}
          </button>
        </p>
      </Show>
      <Show when={store.state().ready && open() === 0}>
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
