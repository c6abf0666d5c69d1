/** People, for administrators: making accounts and the links they sign in with. */
import { createMemo, createSignal, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AccountName } from "../../components/AccountName";
import { Button } from "../../components/Button";
import { visibleLine } from "../../model/text";
import type { User } from "../../model/types";
import { signInPath } from "../../router/paths";
import { createAction } from "../../shell/action";
import { Copyable } from "../../shell/Copyable";
import { StoreContext } from "../../store/context";
import { settingsText } from "../../strings";
import { NewAccount } from "./NewAccount";
import { isAdmin } from "./Profile";

export const People: Component = () => {
  const store = useContext(StoreContext);
  const admin = createMemo(() => isAdmin(store.state().accounts.get(store.state().me)));
  const people = createMemo(() =>
    [...store.state().accounts.values()].flatMap((account) => (account.kind === "user" ? [account] : [])).sort((a, b) => a.handle.localeCompare(b.handle)),
  );
  return (
    <>
      <Show when={!admin()}>
        <p class="dim">{settingsText.onlyAdmins}</p>
      </Show>
      <ul class="rows">
        <For each={people()} keyed={(person) => person.id}>
          {(person) => <PersonRow person={person()} admin={admin()} />}
        </For>
      </ul>
      <Show when={admin()}>
        <NewAccount title={settingsText.newPerson} onCreate={(handle, name) => store.client.createUser(handle, name)} />
      </Show>
    </>
  );
};

const PersonRow: Component<{ readonly person: User; readonly admin: boolean }> = (props) => {
  const store = useContext(StoreContext);
  const [link, setLink] = createSignal<string | undefined>(undefined);
  const making = createAction();
  const handle = () => visibleLine(props.person.handle);
  const make = () =>
    making.run(async () => {
      const secret = await store.client.createSignIn(props.person.id);
      setLink(`${window.location.origin}${signInPath}#${secret}`);
    });
  return (
    <li>
      <AccountName id={props.person.id} />
      <bdi class="dim small">{visibleLine(props.person.displayName)}</bdi>
      <span class="dim small">{props.person.admin ? settingsText.admin : ""}</span>
      <Show when={props.admin}>
        <span class="actions">
          <Button type="button" busy={making.busy()} aria-label={settingsText.linkFor(handle())} onClick={() => void make()}>
            {making.busy() ? settingsText.making : settingsText.signInLink}
          </Button>
        </span>
      </Show>
      <Show when={link()}>
        {(address) => (
          <div class="copyable">
            <p>{settingsText.linkOnce(handle())}</p>
            <Copyable text={address()} label={settingsText.copy} />
          </div>
        )}
      </Show>
      <span role="alert" class="error">
        {making.error()}
      </span>
    </li>
  );
};
