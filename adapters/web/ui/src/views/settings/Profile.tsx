/** Who is signed in, and signing out. */
import { createMemo, createSignal, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { Sure } from "../../components/Sure";
import { visibleLine } from "../../model/text";
import { signInPath } from "../../router/paths";
import { createAction } from "../../shell/action";
import { AppContext } from "../../shell/app";
import { isBegun } from "../../store/asks";
import { StoreContext } from "../../store/context";
import { settingsText } from "../../strings";

export const Profile: Component = () => {
  const store = useContext(StoreContext);
  const { session } = useContext(AppContext);
  const me = createMemo(() => store.state().accounts.get(store.state().me));
  const leaving = createAction();
  const unsent = createMemo(() => ({
    drafts: store.drafts.count(),
    messages: store.outbox.count(),
    answers: [...store.staged().values()].filter(isBegun).length,
  }));
  const losesWork = () => Object.values(unsent()).some((count) => count > 0);
  const [sure, setSure] = createSignal(false);
  const leave = () => {
    setSure(false);
    return leaving.run(async () => {
      await session.signOut();
      // Nothing of this person stays in the tab's storage, nor, with a new load, in memory.
      store.forget();
      window.location.assign(signInPath);
    });
  };
  return (
    <>
      <Show when={me()}>
        {(account) => (
          <dl class="facts">
            <dt>{settingsText.handle}</dt>
            <dd>
              <bdi>{visibleLine(account().handle)}</bdi>
            </dd>
            <Show when={account().displayName !== ""}>
              <dt>{settingsText.displayName}</dt>
              <dd>
                <bdi>{visibleLine(account().displayName)}</bdi>
              </dd>
            </Show>
            <dt>{settingsText.role}</dt>
            <dd>{isAdmin(account()) ? settingsText.admin : settingsText.member}</dd>
          </dl>
        )}
      </Show>
      <div class="form">
        <p class="hint">{settingsText.signOutHelp}</p>
        <div class="actions">
          <Button type="button" busy={leaving.busy()} onClick={() => (losesWork() ? setSure(true) : void leave())}>
            {settingsText.signOut}
          </Button>
        </div>
        <Show when={sure()}>
          <Sure question={settingsText.signOutSure(unsent())} yes={settingsText.signOut} onYes={() => void leave()} onNo={() => setSure(false)} />
        </Show>
        <span role="alert" class="error">
          {leaving.error()}
        </span>
      </div>
    </>
  );
};

export const isAdmin = (account: { readonly kind: string; readonly admin?: boolean } | undefined): boolean => account?.kind === "user" && account.admin === true;
