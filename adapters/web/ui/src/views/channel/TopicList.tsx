/** The topics of a channel, the one that moved last first. */
import { createMemo, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Time } from "../../components/Time";
import { mayPost, participants, SHOWN_PARTICIPANTS, topicsOf, unreadOf } from "../../model/select";
import { visibleLine } from "../../model/text";
import type { Channel, Topic } from "../../model/types";
import { topicPath } from "../../router/paths";
import { StoreContext } from "../../store/context";
import { channelText } from "../../strings";
import "./TopicList.css";

export const TopicList: Component<{ readonly channel: Channel }> = (props) => {
  const store = useContext(StoreContext);
  const topics = createMemo(() => topicsOf(store.state(), props.channel.id));
  return (
    <section aria-labelledby="topics">
      <h2 id="topics">{channelText.topics}</h2>
      <Show when={topics().length === 0}>
        <p class="channel-empty">{mayPost(store.state(), props.channel) === "yes" ? channelText.noTopics : channelText.noTopicsReadOnly}</p>
      </Show>
      <TopicRows topics={topics()} />
    </section>
  );
};

export const TopicRows: Component<{ readonly topics: readonly Topic[] }> = (props) => (
  <ul class="topic-rows">
    <For each={props.topics} keyed={(topic) => topic.id}>
      {(topic) => <TopicRow topic={topic()} />}
    </For>
  </ul>
);

const TopicRow: Component<{ readonly topic: Topic }> = (props) => {
  const store = useContext(StoreContext);
  const unread = createMemo(() => unreadOf(store.state(), props.topic.id));
  const names = createMemo(() => participants(store.state(), props.topic));
  const more = () => props.topic.participantIds.length - SHOWN_PARTICIPANTS;
  return (
    <li class={["topic-row", { unread: unread() > 0 }]}>
      <a href={topicPath(props.topic.channelId, props.topic.id)}>
        <bdi>{visibleLine(props.topic.name)}</bdi>
      </a>
      <Show when={props.topic.openAsks > 0}>
        <span class="badge asks">{channelText.openAsks(props.topic.openAsks)}</span>
      </Show>
      <Show when={unread() > 0}>
        <span class="badge unread">{channelText.unread(unread())}</span>
      </Show>
      <span class="topic-row-facts">
        <span>{channelText.topicCount(props.topic.messageCount)}</span>
        <Show when={names().length > 0}>
          <span class="topic-row-names" aria-label={channelText.startedBy}>
            <For each={names()} keyed={false}>
              {(name, index) => (
                <>
                  {index > 0 ? ", " : ""}
                  <bdi>{visibleLine(name())}</bdi>
                </>
              )}
            </For>
            <Show when={more() > 0}> {channelText.more(more())}</Show>
          </span>
        </Show>
        <Time at={props.topic.messageCount === 0 ? props.topic.createdAt : props.topic.lastActivity} day />
      </span>
    </li>
  );
};
