/**
 * The messages of a topic: opens at the latest, follows when it is there, and makes only the rows around what is visible.
 *
 * Where rows stand is worked out in `stream-layout.ts`; here it meets the browser.
 */
import { createEffect, createMemo, createSignal, For, onSettled, Show, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { keepFocus } from "../keyboard/keep-focus";
import type { Keys } from "../keyboard/keys";
import { visible, visibleLine } from "../model/text";
import type { ChannelId, MessageId, Topic, TopicId } from "../model/types";
import type { MessageWindow } from "../store/contract";
import { StoreContext } from "../store/context";
import { messageText } from "../strings";
import { createLinked } from "./linked";
import { createMoves } from "./message-moves";
import { createReading } from "./reading";
import { createScroller } from "./scroller";
import { arrivedSince, firstUnread, rowsOf } from "./stream-rows";
import type { Row } from "./stream-rows";
import { FOLLOW_WITHIN } from "./stream-layout";
import type { Place } from "./stream-layout";
import { StreamRow } from "./StreamRow";
import "./controls.css";
import "./MessageStream.css";

export interface MessageStreamProps {
  readonly channelId: ChannelId;
  readonly topic: Topic;
  /** The message that an address named. */
  readonly linked?: MessageId | undefined;
  readonly places?: StreamPlaces | undefined;
  /** Where the keys that move among the messages are registered. */
  readonly keys?: Pick<Keys, "register"> | undefined;
}

/** Remembers where a person was in a stream. */
export interface StreamPlaces {
  /** Where to come back to, if the person came back. Reactive. */
  readonly back: () => Place | undefined;
  /** Asks for the place when the person leaves it; the result ends that. */
  readonly watch: (place: () => Place) => () => void;
}

const NOTHING: MessageWindow = { messages: [], gapless: false, complete: false, loading: "newest", error: undefined };
/** Older messages are read when the view is this near to the first one, in px. */
const NEAR_TOP = 600;

/** Made anew for each topic, so that no place follows a switch. */
export const MessageStream: Component<MessageStreamProps> = (props) => {
  const topicId = createMemo(() => props.topic.id);
  return (
    <Show when={topicId()} keyed>
      {(id) => <Stream {...props} topicId={id} />}
    </Show>
  );
};

const Stream: Component<MessageStreamProps & { readonly topicId: TopicId }> = (props) => {
  const store = useContext(StoreContext);
  const topicId = untrack(() => props.topicId);
  const loaded = createMemo(() => store.state().windows.get(topicId) ?? NOTHING);
  const messages = createMemo(() => loaded().messages);
  const readBefore = untrack(() => store.state().positions.get(topicId));
  const unread = createMemo(() => firstUnread(messages(), readBefore, store.state().me));
  const rows = createMemo<readonly Row[]>((before) => rowsOf(messages(), unread(), before));
  const scroller = createScroller(rows);
  const back = createMemo(() => props.places?.back());
  /** A place to come back to whose row is not among what was read. */
  const [missed, setMissed] = createSignal<Place | undefined>(undefined);
  const isComingBack = () => back() !== undefined && back() !== missed();
  const linked = createLinked({ wanted: () => (isComingBack() ? undefined : props.linked), loaded, older: () => store.loadOlder(topicId), reveal: scroller.reveal });
  const scrolled = () => {
    if (scroller.scrolled()) linked.leave();
  };
  const jump = () => {
    linked.leave();
    scroller.toLatest();
  };
  let messagesView: HTMLElement | undefined;
  createReading({ topicId, rows, scroller, store });
  const moves = createMoves({ rows, scroller });
  onSettled(() => {
    const next = props.keys?.register({ id: "next-message", keys: "j", run: () => moves.move(1) });
    const previous = props.keys?.register({ id: "previous-message", keys: "k", run: () => moves.move(-1) });
    return () => {
      next?.();
      previous?.();
    };
  });

  const channelId = untrack(() => props.channelId);
  onSettled(() => store.openTopic(channelId, topicId));
  onSettled(() => props.places?.watch(scroller.place));
  let sought: Place | undefined;
  createEffect(
    () => ({ place: back(), rows: rows(), isRead: loaded().gapless }),
    ({ place, isRead }) => {
      if (place === sought) return;
      const isThere = place === undefined || scroller.goTo(place);
      // Until the messages are read the row may be among them.
      if (!isThere && !isRead) return;
      sought = place;
      setMissed(isThere ? undefined : place);
    },
  );
  createEffect(
    () => {
      const { gapless, complete, loading, error, messages } = loaded();
      return scroller.top() < NEAR_TOP && gapless && !complete && loading === "none" && error === undefined && messages.length > 0 && scroller.measured();
    },
    (isWanted) => {
      if (isWanted) store.loadOlder(topicId);
    },
  );
  return (
    <div class="stream" ref={keepFocus({ or: () => messagesView })}>
      <div class="stream-scroll" ref={[scroller.view, (element) => (messagesView = element)]} tabindex={moves.isAtOne() ? -1 : 0} role="region" aria-label={messageText.stream(visibleLine(props.topic.name))} onScroll={scrolled}>
        <div class="stream-head" ref={scroller.head}>
          <Head window={loaded()} retry={() => (loaded().gapless ? store.loadOlder(topicId) : store.openTopic(channelId, topicId))} />
        </div>
        <div
          role="feed"
          onFocusIn={moves.enter}
          aria-busy={loaded().loading === "none" ? "false" : "true"}
          aria-label={messageText.stream(visibleLine(props.topic.name))}
          style={{ "padding-top": `${scroller.range().before}px`, "padding-bottom": `${scroller.range().after}px` }}
        >
          <For each={rows().slice(scroller.range().first, scroller.range().end)} keyed={(row) => row.id}>
            {(row) => <StreamRow row={row()} channelId={channelId} highlighted={row().id === props.linked} isStop={row().id === moves.at()} measure={scroller.measure} />}
          </For>
        </div>
      </div>
      <Below toEnd={scroller.toEnd()} arrived={arrivedSince(messages(), scroller.leftEndAt(), store.state().me)} jump={jump} />
      <Show when={linked.notice()}>
        {(notice) => (
          <p class="stream-notice" role="status">
            {notice()}
            <button type="button" class="quiet" onClick={linked.dismiss}>
              {messageText.dismiss}
            </button>
          </p>
        )}
      </Show>
    </div>
  );
};

/** What stands above the first message: what is being read, or that there is no more. */
const Head: Component<{ readonly window: MessageWindow; readonly retry: () => void }> = (props) => {
  const word = () => {
    const { loading, complete, messages } = props.window;
    if (loading === "newest") return messageText.loadingNewest;
    if (loading === "older") return messageText.loadingOlder;
    return messages.length === 0 ? messageText.none : complete ? messageText.start : "";
  };
  return (
    <Show when={props.window.error} fallback={<p class="stream-word">{word()}</p>}>
      {(error) => (
        <p class="stream-word" role="alert">
          {visible(error())}{" "}
          <button type="button" class="quiet" onClick={() => props.retry()}>
            {messageText.retry}
          </button>
        </p>
      )}
    </Show>
  );
};

const Below: Component<{ readonly toEnd: number; readonly arrived: number; readonly jump: () => void }> = (props) => (
  <Show when={props.toEnd > FOLLOW_WITHIN}>
    <button type="button" class="stream-latest" onClick={() => props.jump()}>
      {messageText.jumpToLatest}
      <Show when={props.arrived > 0}>
        <span class="stream-arrived">{messageText.newBelow(props.arrived)}</span>
      </Show>
    </button>
  </Show>
);
