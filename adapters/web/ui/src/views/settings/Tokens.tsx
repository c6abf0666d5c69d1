/** Tokens of the person and of its agents: looking at them, revoking them, making one. */
import { createMemo, createSignal, For, onSettled, Show, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { Sure } from "../../components/Sure";
import { Time } from "../../components/Time";
import { keepFocus } from "../../keyboard/keep-focus";
import { agents } from "../../model/select";
import { visibleLine } from "../../model/text";
import type { AccountId, TokenInfo } from "../../model/types";
import { createAction, createReading } from "../../shell/action";
import { Copyable } from "../../shell/Copyable";
import { StoreContext } from "../../store/context";
import { settingsText } from "../../strings";
import { newestFirst, tokenKind, tokenMark, tokenName } from "./token";

export const Tokens: Component = () => {
  const store = useContext(StoreContext);
  const mine = createMemo(() => agents(store.state()).filter((agent) => agent.ownerId === store.state().me));
  const [of, setOf] = createSignal(untrack(() => store.state().me));
  return (
    <>
      <p class="dim">{settingsText.tokensHelp}</p>
      <div class="form">
        <label>
          {settingsText.tokensOf}
          <select value={of()} onChange={(event) => setOf(event.currentTarget.value)}>
            <option value={store.state().me}>{visibleLine(store.state().accounts.get(store.state().me)?.handle ?? store.state().me)}</option>
            <For each={mine()} keyed={(agent) => agent.id}>
              {(agent) => <option value={agent().id}>{visibleLine(agent().handle)}</option>}
            </For>
          </select>
        </label>
      </div>
      <Show when={of()} keyed>
        {(id) => <TokenList of={id} mayMake={id !== store.state().me} />}
      </Show>
    </>
  );
};

/** Made anew for each account: a token that is shown is the one of whoever is picked. */
const TokenList: Component<{ readonly of: AccountId; readonly mayMake: boolean }> = (props) => {
  const store = useContext(StoreContext);
  const [tokens, setTokens] = createSignal<readonly TokenInfo[]>([]);
  const [made, setMade] = createSignal<string | undefined>(undefined);
  const of = untrack(() => props.of);
  const reading = createReading(() => store.client.listTokens(of), (list) => setTokens(newestFirst(list)));
  const making = createAction();
  let maker: HTMLElement | undefined;
  let list: HTMLElement | undefined;
  onSettled(() => void reading.refresh());
  const make = () =>
    making.run(async () => {
      setMade(await store.client.issueToken(of));
      await reading.refresh();
    });
  return (
    <>
      <Show when={made()}>
        {(token) => (
          <div class="card" ref={keepFocus({ or: () => maker })}>
            <p>{settingsText.tokenOnce}</p>
            <Copyable text={token()} label={settingsText.copy} />
            <div class="actions">
              <button type="button" onClick={() => setMade(undefined)}>
                {settingsText.hide}
              </button>
            </div>
          </div>
        )}
      </Show>
      <ul
        class="rows"
        aria-label={settingsText.sections.tokens}
        tabindex="-1"
        ref={(element) => {
          list = element;
          keepFocus({ among: "li > .actions button", or: () => list })(element);
        }}
      >
        <For each={tokens()} keyed={(token) => token.id} fallback={<li class="dim">{settingsText.noTokens}</li>}>
          {(token) => <TokenRow token={token()} isOwn={of === store.state().me} onRevoked={() => void reading.refresh()} />}
        </For>
      </ul>
      <span role="alert" class="error">
        {reading.error() ?? making.error()}
      </span>
      <Show when={props.mayMake}>
        <div class="actions">
          <Button type="button" ref={(element) => (maker = element)} busy={making.busy()} onClick={() => void make()}>
            {making.busy() ? settingsText.making : settingsText.makeToken}
          </Button>
        </div>
      </Show>
    </>
  );
};

const TokenRow: Component<{ readonly token: TokenInfo; readonly isOwn: boolean; readonly onRevoked: () => void }> = (props) => {
  const store = useContext(StoreContext);
  const [sure, setSure] = createSignal(false);
  const revoking = createAction();
  const name = () => visibleLine(tokenName(props.token));
  const question = () => (props.isOwn && tokenKind(props.token) === "session" ? settingsText.revokeSessionSure(name()) : settingsText.revokeSure(name()));
  const revoke = async () => {
    setSure(false);
    if (await revoking.run(() => store.client.revokeToken(props.token.id))) props.onRevoked();
  };
  return (
    <li>
      {settingsText.tokenKinds[tokenKind(props.token)]} <code title={visibleLine(props.token.id)}>{visibleLine(tokenMark(props.token))}</code>
      <span class="dim small">
        {settingsText.created} <Time at={props.token.createdAt} day /> · {settingsText.expires}{" "}
        <Show when={props.token.expiresAt} fallback={settingsText.never}>
          {(at) => <Time at={at()} day />}
        </Show>
      </span>
      <span class="actions">
        <Button type="button" busy={revoking.busy()} aria-label={settingsText.revokeThis(name())} onClick={() => setSure(true)}>
          {settingsText.revoke}
        </Button>
      </span>
      <Show when={sure()}>
        <Sure question={question()} yes={settingsText.revoke} onYes={() => void revoke()} onNo={() => setSure(false)} />
      </Show>
      <span role="alert" class="error">
        {revoking.error()}
      </span>
    </li>
  );
};
