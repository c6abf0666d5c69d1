/** A topic: what was said, and saying more. */
import { createMemo, onSettled, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Composer } from "../../components/Composer";
import { MessageStream } from "../../components/MessageStream";
import { channelLabel } from "../../model/select";
import { visibleLine } from "../../model/text";
import type { Channel, ChannelId, MessageId, Topic, TopicId } from "../../model/types";
import { channelPath } from "../../router/paths";
import { AppContext } from "../../shell/app";
import { StoreContext } from "../../store/context";
import { topicText } from "../../strings";
import { placesOf } from "./places";
import { TopicSettings } from "./TopicSettings";
import "./TopicView.css";

interface Props {
  readonly channelId: ChannelId;
  readonly topicId: TopicId;
  readonly messageId: MessageId | undefined;
}

const TopicView: Component<Props> = (props) => {
  const store = useContext(StoreContext);
  const place = createMemo(() => {
    const channel = store.state().channels.get(props.channelId);
    const topic = store.state().topics.get(props.topicId);
    return channel && topic ? { channel, topic } : undefined;
  });
  return <Show when={place()}>{(at) => <Loaded channel={at().channel} topic={at().topic} messageId={props.messageId} />}</Show>;
};
export default TopicView;

const Loaded: Component<{ readonly channel: Channel; readonly topic: Topic; readonly messageId: MessageId | undefined }> = (props) => {
  const store = useContext(StoreContext);
  const app = useContext(AppContext);
  let view: HTMLElement | undefined;
  const write = () => {
    const field = view?.querySelector<HTMLElement>(".message-field-row textarea");
    field?.focus();
    return field != null;
  };
  onSettled(() => app.keys.register({ id: "write", keys: "c", run: write }));
  return (
    <div class="topic-view" ref={(element) => (view = element)}>
      <header class="topic-head">
        {/* Long names are cut; the whole is in the tooltip. */}
        <h1 title={visibleLine(props.topic.name)}>
          <bdi>{visibleLine(props.topic.name)}</bdi>
        </h1>
        <span class="topic-in" title={visibleLine(channelLabel(store.state(), props.channel))}>
          {topicText.in}{" "}
          <a href={channelPath(props.channel.id)}>
            <bdi>{visibleLine(channelLabel(store.state(), props.channel))}</bdi>
          </a>
        </span>
        <Show when={props.topic.archived}>
          <span class="topic-archived">{topicText.archived}</span>
        </Show>
        <TopicSettings topic={props.topic} />
      </header>
      <Show when={props.topic.braked}>
        <p class="topic-notice" role="status">
          {topicText.braked}
        </p>
      </Show>
      <MessageStream channelId={props.channel.id} topic={props.topic} linked={props.messageId} places={placesOf(app)} keys={app.keys} />
      <Composer channel={props.channel} topic={props.topic} />
    </div>
  );
};
