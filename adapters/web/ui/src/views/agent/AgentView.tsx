/** An agent: whether it is there, what it does, what it waits for, and its session. */
import { createMemo, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AccountName } from "../../components/AccountName";
import { Button } from "../../components/Button";
import { activityOf, inbox, topicsOf } from "../../model/select";
import { firstText, clipped, visible, visibleLine } from "../../model/text";
import type { AccountId, Agent, ChannelId } from "../../model/types";
import { agentPath, channelPath, messagePath } from "../../router/paths";
import { createAction } from "../../shell/action";
import { AppContext } from "../../shell/app";
import { PlaceName } from "../../shell/PlaceName";
import { Presence } from "../../shell/Presence";
import { StoreContext } from "../../store/context";
import { agentText, browseText } from "../../strings";
import { TopicRows } from "../channel/TopicList";
import { Age } from "../inbox/Age";
import { SessionPanel } from "./SessionPanel";
import "./AgentView.css";

const CLIPPED = 140;

const AgentView: Component<{ readonly agentId: AccountId }> = (props) => {
  const store = useContext(StoreContext);
  const agent = createMemo(() => {
    const account = store.state().accounts.get(props.agentId);
    return account?.kind === "agent" ? account : undefined;
  });
  return <Show when={agent()}>{(at) => <Loaded agent={at()} />}</Show>;
};
export default AgentView;

const Loaded: Component<{ readonly agent: Agent }> = (props) => {
  const store = useContext(StoreContext);
  const activity = createMemo(() => visible(activityOf(store.state(), props.agent.id)));
  return (
    <div class="page agent-view">
      <header class="page-head">
        <div>
          <h1>
            <bdi>{visibleLine(props.agent.handle)}</bdi>
          </h1>
          <p class="agent-line">
            <Presence id={props.agent.id} />
            <Show when={props.agent.displayName !== ""}>
              <bdi class="dim">{visibleLine(props.agent.displayName)}</bdi>
            </Show>
          </p>
        </div>
      </header>
      <MessageButton id={props.agent.id} />
      <dl class="facts">
        <Show when={activity() !== ""}>
          <dt>{agentText.activity}</dt>
          <dd dir="auto">{activity()}</dd>
        </Show>
        <dt>{agentText.ownedBy}</dt>
        <dd>
          <AccountName id={props.agent.ownerId} />
        </dd>
        <Show when={props.agent.parentId}>
          {(parent) => (
            <>
              <dt>{agentText.reportsTo}</dt>
              <dd>
                <a href={agentPath(parent())}>
                  <AccountName id={parent()} />
                </a>
              </dd>
            </>
          )}
        </Show>
        <Show when={homeOf(props.agent, store.state().channels)}>
          {(home) => (
            <>
              <dt>{agentText.home}</dt>
              <dd>
                <a href={channelPath(home().id)}>
                  <bdi>{visibleLine(home().name)}</bdi>
                </a>
              </dd>
            </>
          )}
        </Show>
      </dl>
      <OpenAsks id={props.agent.id} />
      <SessionPanel agent={props.agent} />
      <Show when={homeOf(props.agent, store.state().channels)}>{(home) => <HomeTopics channelId={home().id} />}</Show>
    </div>
  );
};

const homeOf = <C,>(agent: Agent, channels: ReadonlyMap<ChannelId, C>): C | undefined => (agent.homeChannelId === undefined ? undefined : channels.get(agent.homeChannelId));

const MessageButton: Component<{ readonly id: AccountId }> = (props) => {
  const store = useContext(StoreContext);
  const app = useContext(AppContext);
  const opening = createAction();
  const open = () => opening.run(() => store.client.openDm(props.id), ({ id }) => app.goToNew(id, channelPath(id)));
  return (
    <div class="actions agent-message">
      <Button type="button" busy={opening.busy()} onClick={() => void open()}>
        {opening.busy() ? browseText.opening : agentText.message}
      </Button>
      <span role="alert" class="error">
        {opening.error()}
      </span>
    </div>
  );
};

const OpenAsks: Component<{ readonly id: AccountId }> = (props) => {
  const store = useContext(StoreContext);
  const asks = createMemo(() => inbox(store.state()).filter((each) => each.message.authorId === props.id));
  return (
    <section aria-labelledby="agent-asks">
      <h2 id="agent-asks">{agentText.openAsks}</h2>
      <ul class="rows">
        <For each={asks()} keyed={(each) => each.ask.id} fallback={<li class="dim">{agentText.noAsks}</li>}>
          {(each) => (
            <li>
              <a href={messagePath(each().channelId, each().message.topicId, each().message.id)}>
                <bdi>{clipped(firstText([{ kind: "ask", ask: each().ask }]), CLIPPED)}</bdi>
              </a>
              <span class="dim small">
                <PlaceName message={each().message} />
              </span>
              <Age at={each().message.at} />
            </li>
          )}
        </For>
      </ul>
    </section>
  );
};

const HomeTopics: Component<{ readonly channelId: ChannelId }> = (props) => {
  const store = useContext(StoreContext);
  const topics = createMemo(() => topicsOf(store.state(), props.channelId));
  return (
    <Show when={topics().length > 0}>
      <section aria-labelledby="agent-topics">
        <h2 id="agent-topics">{agentText.topics}</h2>
        <TopicRows topics={topics()} />
      </section>
    </Show>
  );
};
