/** Signs in: with a link that was opened, or with what is pasted. Nothing is spent before the button is pressed. */
import { createSignal, createUniqueId, Show } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../../components/Button";
import { Failure } from "../../model/client";
import type { PageSession } from "../../model/client";
import { sessionFailure } from "../../shell/failure";
import { signInText } from "../../strings";
import { credentialOf } from "./credential";
import type { Credential, PastedKind } from "./credential";

interface Props {
  readonly session: PageSession;
  /** From the address of a sign-in link. */
  readonly secret: string | undefined;
  readonly onSignedIn: () => void | Promise<void>;
}

export const SignInForm: Component<Props> = (props) => {
  const [kind, setKind] = createSignal<PastedKind>("secret");
  const [text, setText] = createSignal("");
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<string | undefined>(undefined);
  const [isSpent, setSpent] = createSignal(false);
  const field = createUniqueId();
  const name = createUniqueId();
  const signIn = async (by: Credential | undefined) => {
    if (busy()) return;
    if (!by) {
      setError(signInText.empty);
      return;
    }
    setBusy(true);
    setError(undefined);
    setSpent(false);
    try {
      await props.session.signIn(by);
      await props.onSignedIn();
    } catch (failure) {
      setError(sessionFailure(failure));
      setSpent("secret" in by && failure instanceof Failure && failure.kind === "signed_out");
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void signIn(credentialOf(kind(), text()));
  };
  return (
    <>
      <Show when={props.secret}>
        {(secret) => (
          <div class="form">
            <p>{signInText.linkReady}</p>
            <div class="actions">
              <Button type="button" class="primary" busy={busy()} onClick={() => void signIn({ secret: secret() })}>
                {busy() ? signInText.signingIn : signInText.signIn}
              </Button>
            </div>
            <h2>{signInText.pasteTitle}</h2>
          </div>
        )}
      </Show>
      <form class="form" onSubmit={submit}>
        <fieldset>
          <legend>{signInText.kind}</legend>
          <label class="check">
            <input type="radio" name={name} checked={kind() === "secret"} onChange={() => setKind("secret")} /> {signInText.secret}
          </label>
          <label class="check">
            <input type="radio" name={name} checked={kind() === "token"} onChange={() => setKind("token")} /> {signInText.token}
          </label>
        </fieldset>
        <label for={field}>
          {signInText.field}
          <input id={field} type="password" autocomplete="off" spellcheck={false} value={text()} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <div class="actions">
          <Button type="submit" class={{ primary: props.secret === undefined }} busy={busy()}>
            {busy() ? signInText.signingIn : signInText.signIn}
          </Button>
        </div>
        <div role="alert">
          <Show when={error()}>{(reason) => <p class="error">{reason()}</p>}</Show>
          <Show when={isSpent()}>
            <p>{signInText.linkSpent}</p>
          </Show>
        </div>
      </form>
    </>
  );
};
