/** The page of somebody who is not signed in, or who opened a sign-in link. */
import { onSettled, Show } from "solid-js";
import type { Component } from "solid-js";
import type { PageSession } from "../../model/client";
import { shellText, signInText } from "../../strings";
import { SignInForm } from "./SignInForm";
import "./SignIn.css";

interface Props {
  readonly session: PageSession;
  readonly secret: string | undefined;
  /** Set if this browser has a session already: goes on with it. */
  readonly onStay: (() => void) | undefined;
  readonly onSignedIn: () => void | Promise<void>;
}

const SignIn: Component<Props> = (props) => {
  onSettled(() => {
    document.title = signInText.title;
  });
  return (
  <main class="sign-in" aria-label={signInText.title}>
    <p class="sign-in-brand">{shellText.product}</p>
    <h1>{signInText.title}</h1>
    <Show when={props.onStay}>
      {(stay) => (
        <div class="card sign-in-note">
          <p>{signInText.alreadyIn}</p>
          <div class="actions">
            <button type="button" onClick={() => stay()()}>
              {signInText.stay}
            </button>
          </div>
        </div>
      )}
    </Show>
    <SignInForm session={props.session} secret={props.secret} onSignedIn={props.onSignedIn} />
    <p class="dim small">
      {signInText.where} <code>{signInText.whereCommand}</code>
    </p>
  </main>
  );
};
export default SignIn;
