/** A channel: its topics. What is said stands in the topics. */
import { createMemo, createSignal, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { NewTopic } from "../../components/NewTopic";
import { channelLabel, groupOf, membership } from "../../model/select";
import { visibleLine } from "../../model/text";
import type { Channel, ChannelId, Message } from "../../model/types";
import { topicPath } from "../../router/paths";
import { AppContext } from "../../shell/app";
import { StoreContext } from "../../store/context";
import { channelText } from "../../strings";
import { ArchivedTopics } from "./ArchivedTopics";
import { ChannelActions } from "./ChannelActions";
import { ChannelPanel } from "./ChannelPanel";
import { PinnedBoard } from "./PinnedBoard";
import { TopicList } from "./TopicList";
import "./ChannelView.css";

const ChannelView: Component<{ readonly channelId: ChannelId }> = (props) => {
  const store = useContext(StoreContext);
  const channel = createMemo(() => store.state().channels.get(props.channelId));
  return <Show when={channel()}>{(at) => <Loaded channel={at()} />}</Show>;
};
export default ChannelView;

const Loaded: Component<{ readonly channel: Channel }> = (props) => {
  const store = useContext(StoreContext);
  const app = useContext(AppContext);
  const started = (message: Message) => app.goToNew(message.topicId, topicPath(props.channel.id, message.topicId));
  const [panel, setPanel] = createSignal(false);
  const standing = createMemo(() => membership(store.state(), props.channel));
  const takesPart = () => standing() !== "none";
  return (
    <div class="page channel">
      <header class="page-head">
        <div>
          <h1>
            <span class="dim" aria-hidden="true">
              {props.channel.kind === "channel" ? "#" : "@"}
            </span>{" "}
            <bdi>{visibleLine(channelLabel(store.state(), props.channel))}</bdi>
          </h1>
          <p class="dim small channel-standing">
            <Show when={groupOf(store.state(), props.channel)}>
              {(group) => (
                <>
                  {channelText.group} <bdi>{visibleLine(group().name)}</bdi> ·{" "}
                </>
              )}
            </Show>
            {channelText.membership[standing()]} · {channelText.memberCount(props.channel.memberIds.length)}
          </p>
        </div>
        <ChannelActions channel={props.channel} standing={standing()} panelOpen={panel()} onPanel={() => setPanel((open) => !open)} />
      </header>
      <Show when={panel() && takesPart()}>
        <ChannelPanel channel={props.channel} />
      </Show>
      <Show
        when={takesPart()}
        fallback={<p class="channel-empty">{props.channel.groupId === undefined ? channelText.askToJoin : channelText.joinToRead}</p>}
      >
        <PinnedBoard channel={props.channel} />
        <TopicList channel={props.channel} />
        <NewTopic channel={props.channel} onStarted={started} />
        <ArchivedTopics channelId={props.channel.id} />
      </Show>
    </div>
  );
};
