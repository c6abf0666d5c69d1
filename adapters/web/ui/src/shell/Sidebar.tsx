/** The left column: inbox, channels by group, direct messages, agents. */
import { createEffect, createMemo, createSignal, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { group } from "../keyboard/group";
import { beginning, rail, railLength } from "../model/select";
import { summaries } from "../model/summary";
import type { Summaries } from "../model/summary";
import { browsePath, inboxPath, newChannelPath, newDirectPath } from "../router/paths";
import { StoreContext } from "../store/context";
import { shellText } from "../strings";
import { AppContext } from "./app";
import { whenIdle } from "./idle";
import { Badge, Section } from "./Section";
import { SidebarAgents } from "./SidebarAgents";
import { ChannelGroups, ChannelRows, RailContext } from "./SidebarChannels";
import "./Sidebar.css";

/** Channels that are made with the first view; the others follow in such steps when the page has nothing else to do. */
const STEP = 40;

export const Sidebar: Component = () => {
  const store = useContext(StoreContext);
  const { router } = useContext(AppContext);
  // Each part of the state by itself: most of what is told changes one of them.
  const [me, accounts, groups, channels] = [createMemo(() => store.state().me), createMemo(() => store.state().accounts), createMemo(() => store.state().groups), createMemo(() => store.state().channels)];
  const [topics, positions, openAsks] = [createMemo(() => store.state().topics), createMemo(() => store.state().positions), createMemo(() => store.state().openAsks)];
  const isRead = createMemo(() => store.state().ready);
  const people = createMemo(() => ({ me: me(), accounts: accounts() }));
  const whole = createMemo(() => rail({ ...people(), groups: groups(), channels: channels() }));
  const counted = createMemo<Summaries>((before) => summaries({ topics: topics(), positions: positions(), openAsks: openAsks() }, before));
  const [made, setMade] = createSignal(STEP);
  const parts = createMemo(() => beginning(whole(), made()));
  // Whoever comes into the column can reach its end by a key, so all of it is made then.
  createEffect(
    () => (isRead() && made() < railLength(whole()) ? made() : undefined),
    (soFar) => (soFar === undefined ? undefined : whenIdle(() => setMade(soFar + STEP))),
  );
  let column: HTMLElement | undefined;
  // Made late or far below, the row of what is shown is brought into view.
  createEffect(
    () => [isRead(), made(), router.route()],
    // Some browsers give a promise back, which is no cleanup.
    () => {
      column?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: "nearest" });
    },
  );
  const all = () => setMade(Number.POSITIVE_INFINITY);
  const waiting = () => store.state().openAsks.size;
  const at = (kind: string) => (router.route().kind === kind ? "page" : undefined);
  return (
    <nav id="rail" class="rail" aria-label={shellText.navigation} data-zone="rail" ref={(element) => (column = element)} onFocusIn={all}>
      <div class="rail-scroll" ref={group()}>
        <a class="rail-row inbox" href={inboxPath} aria-current={at("inbox")} data-stop tabindex="-1">
          <span class="rail-name">{shellText.inbox}</span>
          <Badge kind="asks" count={waiting()} label={shellText.waiting(waiting())} />
        </a>
        <RailContext value={{ summaries: counted, people }}>
          <Section name="channels" title={shellText.channels} link={{ path: newChannelPath, label: shellText.newChannel }}>
            <ChannelGroups groups={parts().groups} ungrouped={parts().ungrouped} />
            <Show when={isRead() && parts().groups.length === 0 && parts().ungrouped.length === 0}>
              <p class="rail-note">{shellText.noChannels}</p>
            </Show>
            <a class="rail-row quiet" href={browsePath} aria-current={at("browse")} data-stop tabindex="-1">
              <span class="rail-name">{shellText.browse}</span>
              <Show when={parts().browse.length > 0}>
                <span class="rail-count">{parts().browse.length}</span>
              </Show>
            </a>
          </Section>
          <Section name="direct" title={shellText.direct} link={{ path: newDirectPath, label: shellText.newDirect }}>
            <ChannelRows channels={parts().direct} />
          </Section>
        </RailContext>
        <SidebarAgents />
      </div>
    </nav>
  );
};
