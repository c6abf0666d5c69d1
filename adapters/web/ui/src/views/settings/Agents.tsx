/** The person's agents, and making one. */
import { createMemo, createSignal, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AccountName } from "../../components/AccountName";
import { Button } from "../../components/Button";
import { agents } from "../../model/select";
import { visibleLine } from "../../model/text";
import type { Agent } from "../../model/types";
import { agentPath } from "../../router/paths";
import { createAction } from "../../shell/action";
import { Copyable } from "../../shell/Copyable";
import { PresenceOf } from "../../shell/Presence";
import { StoreContext } from "../../store/context";
import { settingsText } from "../../strings";
import { NewAccount } from "./NewAccount";

export const Agents: Component = () => {
  const store = useContext(StoreContext);
  const mine = createMemo(() => agents(store.state()).filter((agent) => agent.ownerId === store.state().me));
  return (
    <>
      <ul class="rows" aria-label={settingsText.yours}>
        <For each={mine()} keyed={(agent) => agent.id} fallback={<li class="dim">{settingsText.noAgents}</li>}>
          {(agent) => <AgentRow agent={agent()} />}
        </For>
      </ul>
      <NewAccount title={settingsText.newAgent} help={settingsText.agentsHelp} onCreate={(handle, name) => store.client.createAgent(handle, name)} />
    </>
  );
};

const AgentRow: Component<{ readonly agent: Agent }> = (props) => {
  const store = useContext(StoreContext);
  const [token, setToken] = createSignal<string | undefined>(undefined);
  const making = createAction();
  const make = () =>
    making.run(async () => {
      setToken(await store.client.issueToken(props.agent.id));
    });
  return (
    <li>
      <a href={agentPath(props.agent.id)}>
        <AccountName id={props.agent.id} />
      </a>
      <PresenceOf id={props.agent.id} />
      <bdi class="dim small">{visibleLine(props.agent.displayName)}</bdi>
      <span class="actions">
        <Button type="button" busy={making.busy()} onClick={() => void make()}>
          {making.busy() ? settingsText.making : settingsText.makeToken}
        </Button>
      </span>
      <Show when={token()}>
        {(value) => (
          <div class="copyable">
            <p>{settingsText.tokenOnce}</p>
            <Copyable text={value()} label={settingsText.copy} />
          </div>
        )}
      </Show>
      <span role="alert" class="error">
        {making.error()}
      </span>
    </li>
  );
};
