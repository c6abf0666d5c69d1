/** Opens the conversation with one other account; there is one per pair. */
import { createMemo, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AccountName } from "../../components/AccountName";
import { Button } from "../../components/Button";
import { visibleLine } from "../../model/text";
import type { Account } from "../../model/types";
import { channelPath } from "../../router/paths";
import { createAction } from "../../shell/action";
import { AppContext } from "../../shell/app";
import { PresenceOf } from "../../shell/Presence";
import { StoreContext } from "../../store/context";
import { browseText } from "../../strings";

export const NewDirect: Component = () => {
  const store = useContext(StoreContext);
  const others = createMemo(() =>
    [...store.state().accounts.values()].filter((account) => account.kind !== "system" && account.id !== store.state().me).sort((a, b) => a.handle.localeCompare(b.handle)),
  );
  return (
    <>
      <h1>{browseText.newDirect}</h1>
      <h2>{browseText.with}</h2>
      <Show when={others().length > 0} fallback={<p class="channel-empty">{browseText.nobody}</p>}>
        <ul class="joinable">
          <For each={others()} keyed={(account) => account.id}>
            {(account) => <DirectRow account={account()} />}
          </For>
        </ul>
      </Show>
    </>
  );
};

const DirectRow: Component<{ readonly account: Account }> = (props) => {
  const store = useContext(StoreContext);
  const app = useContext(AppContext);
  const opening = createAction();
  const open = () => opening.run(() => store.client.openDm(props.account.id), ({ id }) => app.goToNew(id, channelPath(id)));
  return (
    <li>
      <AccountName id={props.account.id} />
      <PresenceOf id={props.account.id} />
      <bdi class="dim small">{visibleLine(props.account.displayName)}</bdi>
      <span class="actions">
        <Button type="button" busy={opening.busy()} aria-label={browseText.openNamed(visibleLine(props.account.handle))} onClick={() => void open()}>
          {opening.busy() ? browseText.opening : browseText.open}
        </Button>
      </span>
      <span role="alert" class="error">
        {opening.error()}
      </span>
    </li>
  );
};
