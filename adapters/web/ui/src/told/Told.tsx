/** What goes on whatever is looked at: tells of new asks by title, icon, live region, desktop and ear. Renders nothing. */
import { createEffect, createMemo, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { askById, channelLabel, handleOf } from "../model/select";
import type { Waiting } from "../model/select";
import { clipped, firstText, visibleLine } from "../model/text";
import type { AskId } from "../model/types";
import { messagePath } from "../router/paths";
import type { Route } from "../router/route";
import { AppContext } from "../shell/app";
import { viewTitle } from "../shell/title";
import { StoreContext } from "../store/context";
import type { State } from "../store/contract";
import { shellText, toldText } from "../strings";
import { desktopIsAllowed, showOnDesktop } from "./desktop";
import { faviconUrl } from "./favicon";
import { tell } from "./fresh";
import { beep } from "./sound";
import { unreadBesides } from "./unread";

/** A notification shows about this much. */
const BODY = 160;

/** `route` is undefined while a link is held. */
const Told: Component<{ readonly route: Route | undefined }> = (props) => {
  const store = useContext(StoreContext);
  // To whom nobody is signed in nothing is told of anybody's.
  const isOut = createMemo(() => store.connection().kind === "signed_out");
  const waiting = createMemo(() => (isOut() ? 0 : store.state().openAsks.size));
  const unread = createMemo(() => (isOut() ? 0 : unreadBesides(store.state())));
  createEffect(
    () => toldText.titleCounts(waiting(), unread()) + toldText.titled(isOut() ? shellText.signedOut : viewTitle(props.route, store.state())),
    (title) => {
      document.title = title;
    },
  );
  createEffect(
    () => faviconUrl(waiting(), unread()),
    (url) => document.querySelector('link[rel="icon"]')?.setAttribute("href", url),
  );
  useNewAsks();
  return null;
};

const useNewAsks = () => {
  const store = useContext(StoreContext);
  const app = useContext(AppContext);
  let known: ReadonlySet<AskId> | undefined;
  const announced = new Map<AskId, Waiting>();
  let isUnable = false;
  createEffect(store.state, (state) => {
    if (state.ready) for (const [id, each] of announced) if (!state.openAsks.has(id)) retract(id, each, state);
    const told = tell(known, state);
    known = told.known;
    for (const each of told.fresh) announce(each, state);
    if (told.fresh.length > 0 && untrack(app.prefs.sound)) beep();
  });
  const retract = (id: AskId, each: Waiting, state: State) => {
    announced.delete(id);
    const words = endWords(id, state);
    app.unsay(id, words && titleOf(each, state, words));
  };
  const announce = (each: Waiting, state: State) => {
    const title = titleOf(each, state);
    app.say(title, each.ask.id);
    announced.set(each.ask.id, each);
    if (!untrack(app.prefs.notify) || !desktopIsAllowed() || document.hasFocus()) return;
    const path = messagePath(each.channelId, each.message.topicId, each.message.id);
    const isShown = showOnDesktop({ title, body: clipped(firstText([{ kind: "ask", ask: each.ask }]), BODY), tag: each.ask.id }, () => app.router.go(path));
    if (isShown || isUnable) return;
    isUnable = true;
    store.report("desktop", toldText.unable);
  };
};

type Words = (handle: string, channel: string) => string;

const titleOf = (each: Waiting, state: State, words: Words = toldText.newAsk): string => {
  const channel = state.channels.get(each.channelId);
  return words(visibleLine(handleOf(state, each.message.authorId)), channel ? visibleLine(channelLabel(state, channel)) : "");
};

/** How an ask ended, in words; undefined if that is not known. */
const endWords = (askId: AskId, state: State): Words | undefined => {
  const end = askById(state, askId)?.ask.end.kind;
  return end === "answered" ? toldText.askAnswered : end === "cancelled" ? toldText.askWithdrawn : undefined;
};

export default Told;
