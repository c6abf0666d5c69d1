/** Who is in a channel, and putting somebody in or out. */
import { createMemo, createSignal, createUniqueId, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AccountName } from "../../components/AccountName";
import { Button } from "../../components/Button";
import { Sure } from "../../components/Sure";
import { keepFocus } from "../../keyboard/keep-focus";
import { handleOf } from "../../model/select";
import { visibleLine } from "../../model/text";
import type { Account, AccountId, Channel } from "../../model/types";
import { agentPath } from "../../router/paths";
import { createAction } from "../../shell/action";
import { Form } from "../../shell/Form";
import { PresenceOf } from "../../shell/Presence";
import { StoreContext } from "../../store/context";
import type { State } from "../../store/contract";
import { channelText } from "../../strings";
import { staying } from "./staying";

export const MemberList: Component<{ readonly channel: Channel; readonly editable: boolean }> = (props) => {
  const store = useContext(StoreContext);
  let list: HTMLElement | undefined;
  const members = createMemo(() => [...props.channel.memberIds].sort((a, b) => handleOf(store.state(), a).localeCompare(handleOf(store.state(), b))));
  return (
    <>
      <ul
        class="member-list"
        aria-labelledby="members"
        tabindex="-1"
        ref={(element) => {
          list = element;
          keepFocus({ among: ".member-remove", or: () => list })(element);
        }}
      >
        <For each={members()}>{(id) => <MemberRow id={id} channel={props.channel} editable={props.editable} />}</For>
      </ul>
      <Show when={props.channel.anchorId}>
        {(anchor) => <p class="dim small">{channelText.subtree(visibleLine(handleOf(store.state(), anchor())))}</p>}
      </Show>
    </>
  );
};

const MemberRow: Component<{ readonly id: AccountId; readonly channel: Channel; readonly editable: boolean }> = (props) => {
  const store = useContext(StoreContext);
  const [sure, setSure] = createSignal(false);
  const removing = createAction();
  const handle = () => visibleLine(handleOf(store.state(), props.id));
  const isMe = () => props.id === store.state().me;
  const isAgent = () => store.state().accounts.get(props.id)?.kind === "agent";
  const stay = createMemo(() => staying(store.state(), props.channel, props.id));
  const label = () => {
    const at = stay();
    if (!at) return channelText.remove(handle());
    return at.kind === "owner" ? channelText.cannotRemoveOwner(handle()) : channelText.cannotRemoveOwnerOf(handle(), at.handle);
  };
  const remove = () => {
    setSure(false);
    void removing.run(() => store.client.updateMembers(props.channel.id, { remove: [props.id] }));
  };
  return (
    <li>
      <div class="member-row">
        <Show when={isAgent()} fallback={<AccountName id={props.id} />}>
          <a href={agentPath(props.id)}>
            <AccountName id={props.id} />
          </a>
        </Show>
        <PresenceOf id={props.id} />
        <Show when={isMe()}>
          <span class="dim small">{channelText.you}</span>
        </Show>
        <Show when={props.id === props.channel.ownerId}>
          <span class="dim small">{channelText.owner}</span>
        </Show>
        <Show when={props.channel.subscriberIds.includes(props.id)}>
          <span class="dim small">{channelText.subscribed}</span>
        </Show>
        <Show when={props.editable && !isMe()}>
          <Button type="button" class="member-remove" aria-label={label()} title={label()} busy={removing.busy()} disabled={stay() !== undefined} onClick={() => setSure(true)}>
            <span aria-hidden="true">×</span>
          </Button>
        </Show>
      </div>
      <Show when={sure()}>
        <Sure question={channelText.removeSure(handle())} onYes={remove} onNo={() => setSure(false)} />
      </Show>
      <span role="alert" class="error small">
        {removing.error()}
      </span>
    </li>
  );
};

export const AddMember: Component<{ readonly channel: Channel }> = (props) => {
  const store = useContext(StoreContext);
  const [handle, setHandle] = createSignal("");
  const list = createUniqueId();
  const adding = createAction();
  const others = createMemo(() => [...store.state().accounts.values()].filter((account) => account.kind !== "system" && !props.channel.memberIds.includes(account.id)));
  const add = async () => {
    const wanted = handle().trim().replace(/^@/, "");
    const found = findHandle(store.state(), wanted);
    if (!found) adding.fail(channelText.unknownHandle(visibleLine(wanted)));
    else if (props.channel.memberIds.includes(found.id)) adding.fail(channelText.alreadyMember(visibleLine(found.handle)));
    else if (await adding.run(() => store.client.updateMembers(props.channel.id, { add: [found.id] }))) setHandle("");
  };
  return (
    <Form onSubmit={() => add()} error={adding.error()}>
      <label>
        {channelText.addMember}
        <span class="actions">
          <input type="text" list={list} autocomplete="off" spellcheck={false} value={handle()} onInput={(event) => setHandle(event.currentTarget.value)} />
          <Button type="submit" busy={adding.busy()} disabled={handle().trim() === ""}>
            {channelText.add}
          </Button>
        </span>
      </label>
      <datalist id={list}>
        <For each={others()} keyed={(account) => account.id}>
          {(account) => <option value={account().handle}>{visibleLine(account().displayName)}</option>}
        </For>
      </datalist>
    </Form>
  );
};

/** Handles are compared as the server does, whatever their case. */
export const findHandle = (state: State, handle: string): Account | undefined => {
  const folded = handle.normalize("NFC").toLowerCase();
  return [...state.accounts.values()].find((account) => account.kind !== "system" && account.handle.normalize("NFC").toLowerCase() === folded);
};
