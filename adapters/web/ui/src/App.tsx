/** The signed-in page: which view is shown for the address. */
import { createEffect, createMemo, Errored, Loading, Match, Show, Switch, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { lazyPart } from "./lazy";
import { channelLabel } from "./model/select";
import { visibleLine } from "./model/text";
import { resolveRoute } from "./router/resolve";
import type { Resolution } from "./router/resolve";
import type { Route } from "./router/route";
import { AppContext } from "./shell/app";
import { Broken } from "./shell/Broken";
import { Shell } from "./shell/Shell";
import { StoreContext } from "./store/context";
import { shellText } from "./strings";
import { Inbox } from "./views/inbox/Inbox";

/** Counts, news and sounds come after the first view. */
const Told = lazyPart(() => import("./told/Told"));
const ChannelView = lazyPart(() => import("./views/channel/ChannelView"));
const TopicView = lazyPart(() => import("./views/topic/TopicView"));
const AgentView = lazyPart(() => import("./views/agent/AgentView"));
const Browse = lazyPart(() => import("./views/browse/Browse"));
const Search = lazyPart(() => import("./views/search/Search"));
const Settings = lazyPart(() => import("./views/settings/Settings"));
const NotFound = lazyPart(() => import("./views/NotFound"));
const Help = lazyPart(() => import("./views/help/Help"));

export const App: Component = () => {
  const shown = useResolved();
  return (
    <>
      <Loading fallback={null}>
        <Told route={shown()} />
      </Loading>
      <Shell>
        <Errored fallback={(error, reset) => <Broken error={error()} onAgain={reset} />}>
          <Show when={shown()} fallback={<p class="page dim">{shellText.opening}</p>}>
            {(route) => (
              <Loading fallback={<p class="page dim">{shellText.opening}</p>}>
                <View route={route()} />
              </Loading>
            )}
          </Show>
        </Errored>
      </Shell>
    </>
  );
};

/** Made anew for each channel, topic and agent: what was asked, refused or is under way for one is not the next one's. */
const View: Component<{ readonly route: Route }> = (props) => {
  const at = <K extends Route["kind"]>(kind: K) => createMemo(() => ofKind(props.route, kind));
  const [channel, topic, agent, browse, search, settings] = [at("channel"), at("topic"), at("agent"), at("browse"), at("search"), at("settings")];
  return (
    <Switch fallback={<NotFound />}>
      <Match when={props.route.kind === "inbox"}>
        <Inbox />
      </Match>
      <Match when={channel()?.channelId} keyed>
        {(id) => <ChannelView channelId={id} />}
      </Match>
      <Match when={topic()}>
        {(route) => (
          <Show when={route().topicId} keyed>
            {(id) => <TopicView channelId={route().channelId} topicId={id} messageId={route().messageId} />}
          </Show>
        )}
      </Match>
      <Match when={agent()?.agentId} keyed>
        {(id) => <AgentView agentId={id} />}
      </Match>
      <Match when={browse()}>{(route) => <Browse form={route().form} />}</Match>
      <Match when={search()}>{(route) => <Search query={route().query} />}</Match>
      <Match when={settings()}>{(route) => <Settings section={route().section} />}</Match>
      <Match when={props.route.kind === "help"}>
        <Help />
      </Match>
    </Switch>
  );
};

const ofKind = <K extends Route["kind"]>(route: Route, kind: K): Extract<Route, { readonly kind: K }> | undefined => (isOf(route, kind) ? route : undefined);
const isOf = <K extends Route["kind"]>(route: Route, kind: K): route is Extract<Route, { readonly kind: K }> => route.kind === kind;

/** The route to show; undefined while it is held. Redirects as the resolution says. */
const useResolved = (): (() => Route | undefined) => {
  const store = useContext(StoreContext);
  const app = useContext(AppContext);
  const resolution = createMemo<Resolution>(() => resolveRoute(app.router.route(), store.state(), app.awaited()), { equals: sameResolution });
  /** What the channel that was shown last is called; a name that is lost with the channel stays known. */
  const channelName = createMemo<string>((before = "") => {
    const now = resolution();
    if (now.kind !== "show") return before;
    const channel = "channelId" in now.route ? store.state().channels.get(now.route.channelId) : undefined;
    return channel ? visibleLine(channelLabel(store.state(), channel)) : "";
  });
  let shown: Route | undefined;
  createEffect(
    () => ({ now: resolution(), name: channelName() }),
    ({ now, name }) => {
      if (now.kind === "show") shown = now.route;
      // What was just looked at and is not the person's any more.
      if (now.kind === "redirect") {
        const route = untrack(app.router.route);
        const isLost = shown === route && (now.notice === "no_channel" || now.notice === "not_in_channel");
        app.redirect(now.to, { kind: isLost ? "left_channel" : now.notice, channelId: "channelId" in route ? route.channelId : undefined, name });
      }
    },
  );
  return createMemo(() => {
    const now = resolution();
    return now.kind === "show" ? now.route : undefined;
  });
};

const sameResolution = (a: Resolution, b: Resolution): boolean => {
  if (a.kind === "show" && b.kind === "show") return a.route === b.route;
  if (a.kind === "redirect" && b.kind === "redirect") return a.to === b.to && a.notice === b.notice;
  return a.kind === "held" && b.kind === "held";
};
