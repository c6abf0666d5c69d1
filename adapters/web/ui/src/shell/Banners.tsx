/** Bars above the content: shown only while they matter. */
import { createEffect, createMemo, createSignal, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { keepFocus } from "../keyboard/keep-focus";
import { takesPartIn } from "../model/select";
import { visible } from "../model/text";
import type { Notice } from "../router/resolve";
import { StoreContext } from "../store/context";
import type { Connection } from "../store/contract";
import { noticeText, shellText } from "../strings";
import { AppContext } from "./app";
import "./Banners.css";

/** A short loss is not worth a person's attention. */
export const LOST_AFTER_MS = 2_000;

const Banners: Component = () => {
  /** Where the focus came from. */
  let before: Element | undefined;
  return (
    <div
      class="banners"
      ref={keepFocus({ among: "button", or: () => before })}
      onFocusIn={(event) => {
        if (event.relatedTarget instanceof Element && !event.currentTarget.contains(event.relatedTarget)) before = event.relatedTarget;
      }}
    >
      <ConnectionBanner />
      <VersionBanner />
      <NoticeBanner />
      <Problems />
    </div>
  );
};

const ConnectionBanner: Component = () => {
  const store = useContext(StoreContext);
  const lost = createMemo(() => lostOf(store.connection()));
  const clock = createClock(() => lost() !== undefined);
  // No signal tells of it: asked when the connection goes, and as often as the clock moves.
  const isOnline = createMemo(() => {
    lost();
    clock();
    return navigator.onLine;
  });
  const shown = createMemo(() => {
    const at = lost();
    return at && (!isOnline() || clock() - at.since >= LOST_AFTER_MS) ? at : undefined;
  });
  const word = () => (isOnline() ? (store.state().ready ? shellText.lost : shellText.notYet) : shellText.offline);
  return (
    <div role="status">
      <Show when={shown()}>
        {(at) => (
          <div class="banner warning">
            <span>
              {word()} {waitText(at().retryAt - clock())}
            </span>
            <button type="button" onClick={() => store.reconnect()}>
              {shellText.tryNow}
            </button>
          </div>
        )}
      </Show>
    </div>
  );
};

const lostOf = (connection: Connection) => (connection.kind === "lost" ? connection : undefined);

const waitText = (ms: number): string => (ms <= 0 ? shellText.retrying : shellText.retryIn(Math.ceil(ms / 1_000)));

/** The client's clock in ms, moving only while `running`. */
const createClock = (running: () => boolean) => {
  const [now, setNow] = createSignal(Date.now());
  createEffect(running, (on) => {
    if (!on) return undefined;
    const tick = () => setNow(Date.now());
    tick();
    const timer = setInterval(tick, 500);
    return () => clearInterval(timer);
  });
  return now;
};

const VersionBanner: Component = () => {
  const store = useContext(StoreContext);
  return (
    <div role="status">
      <Show when={store.newVersion()}>
        <div class="banner">
          <span>
            {shellText.newVersion} {shellText.reloadKeeps}
          </span>
          <button type="button" onClick={() => window.location.reload()}>
            {shellText.reload}
          </button>
        </div>
      </Show>
    </div>
  );
};

/** Said of a channel that the person takes no part in. */
const OF_ABSENCE: ReadonlySet<Notice> = new Set<Notice>(["no_channel", "left_channel", "not_in_channel"]);

const NoticeBanner: Component = () => {
  const app = useContext(AppContext);
  const store = useContext(StoreContext);
  // Whoever was put out may be put in again.
  const shown = createMemo(() => {
    const notice = app.notice();
    const isOver = notice?.channelId !== undefined && OF_ABSENCE.has(notice.kind) && takesPartIn(store.state(), notice.channelId);
    return isOver ? undefined : notice;
  });
  return (
    <div role="status">
      <Show when={shown()}>
        {(notice) => (
          <div class="banner">
            <span>{noticeText[notice().kind](notice().name)}</span>
            <button type="button" onClick={() => app.dismissNotice()}>
              {shellText.dismiss}
            </button>
          </div>
        )}
      </Show>
    </div>
  );
};

const Problems: Component = () => {
  const store = useContext(StoreContext);
  return (
    <div role="alert" aria-label={shellText.problems}>
      <For each={store.problems()} keyed={(problem) => problem.id}>
        {(problem) => (
          <div class="banner danger">
            <bdi>{visible(problem().text)}</bdi>
            <button type="button" onClick={() => store.dismissProblem(problem().id)}>
              {shellText.dismiss}
            </button>
          </div>
        )}
      </For>
    </div>
  );
};

export default Banners;
