/** Channels of the left column, each with its topics that moved last. */
import { createContext, createMemo, createUniqueId, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { channelLabel, unreadOf } from "../model/select";
import { NOTHING } from "../model/summary";
import type { Summaries } from "../model/summary";
import { visibleLine } from "../model/text";
import type { Channel, Group, Topic } from "../model/types";
import { channelPath, topicPath } from "../router/paths";
import { StoreContext } from "../store/context";
import type { State } from "../store/contract";
import { shellText } from "../strings";
import { AppContext } from "./app";
import { Badge } from "./Section";

interface OfAllRows {
  readonly summaries: () => Summaries;
  /** Who the channels without a name are called after. */
  readonly people: () => Pick<State, "me" | "accounts">;
}

/** What there is to say of all channels, made once for all rows. */
export const RailContext = createContext<OfAllRows>();

interface GroupsProps {
  readonly groups: readonly { readonly group: Group; readonly channels: readonly Channel[] }[];
  readonly ungrouped: readonly Channel[];
}

export const ChannelGroups: Component<GroupsProps> = (props) => (
  <>
    <For each={props.groups} keyed={(each) => each.group.id}>
      {(each) => <ChannelGroup name={visibleLine(each().group.name)} shared={each().group.shared} channels={each().channels} />}
    </For>
    <Show when={props.ungrouped.length > 0}>
      <Show when={props.groups.length > 0} fallback={<ChannelRows channels={props.ungrouped} />}>
        <ChannelGroup name={shellText.ungrouped} shared={false} channels={props.ungrouped} />
      </Show>
    </Show>
  </>
);

const ChannelGroup: Component<{ readonly name: string; readonly shared: boolean; readonly channels: readonly Channel[] }> = (props) => {
  const heading = createUniqueId();
  return (
    <div role="group" aria-labelledby={heading}>
      <h3 class="rail-group" id={heading}>
        <bdi>{props.name}</bdi>
        <Show when={props.shared}>
          {" "}
          <span class="rail-shared" title={shellText.sharedGroup}>
            {shellText.shared}
          </span>
        </Show>
      </h3>
      <ChannelRows channels={props.channels} />
    </div>
  );
};

export const ChannelRows: Component<{ readonly channels: readonly Channel[] }> = (props) => (
  <ul class="rail-list">
    <For each={props.channels} keyed={(channel) => channel.id}>
      {(channel) => <ChannelRow channel={channel()} />}
    </For>
  </ul>
);

const ChannelRow: Component<{ readonly channel: Channel }> = (props) => {
  const { router } = useContext(AppContext);
  const { summaries, people } = useContext(RailContext);
  const summary = createMemo(() => summaries().get(props.channel.id) ?? NOTHING);
  const asks = () => summary().openAsks;
  const unread = () => summary().unread;
  const topics = () => (props.channel.kind === "channel" ? summary().recent : []);
  const label = createMemo(() => visibleLine(channelLabel(people(), props.channel)));
  const current = () => {
    const route = router.route();
    return route.kind === "channel" && route.channelId === props.channel.id ? "page" : undefined;
  };
  return (
    <li>
      <a class={["rail-row", { unread: unread() > 0 }]} href={channelPath(props.channel.id)} aria-current={current()} data-stop tabindex="-1">
        <span class="rail-glyph" aria-hidden="true">
          {props.channel.kind === "channel" ? "#" : "@"}
        </span>
        <bdi class="rail-name">{label()}</bdi>
        <Badge kind="asks" count={asks()} label={shellText.waiting(asks())} />
        <Badge kind="unread" count={unread()} label={shellText.unread(unread())} />
      </a>
      <Show when={topics().length > 0}>
        <ul class="rail-list topics">
          <For each={topics()} keyed={(topic) => topic.id}>
            {(topic) => <TopicRow topic={topic()} />}
          </For>
        </ul>
      </Show>
    </li>
  );
};

const TopicRow: Component<{ readonly topic: Topic }> = (props) => {
  const store = useContext(StoreContext);
  const { router } = useContext(AppContext);
  const unread = createMemo(() => unreadOf(store.state(), props.topic.id));
  const current = () => {
    const route = router.route();
    return route.kind === "topic" && route.topicId === props.topic.id ? "page" : undefined;
  };
  return (
    <li>
      <a class={["rail-row topic", { unread: unread() > 0 }]} href={topicPath(props.topic.channelId, props.topic.id)} aria-current={current()} data-stop tabindex="-1">
        <bdi class="rail-name">{visibleLine(props.topic.name)}</bdi>
        <Badge kind="unread" count={unread()} label={shellText.unread(unread())} />
      </a>
    </li>
  );
};
