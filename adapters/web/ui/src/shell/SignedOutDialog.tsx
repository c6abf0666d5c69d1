/** The session ended while the page was open: sign in again without losing what is drafted or picked. */
import { createSignal, onSettled, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { Button } from "../components/Button";
import { keepFocus } from "../keyboard/keep-focus";
import { Failure } from "../model/client";
import { StoreContext } from "../store/context";
import { shellText, signInText } from "../strings";
import { SignInForm } from "../views/sign-in/SignInForm";
import { createAction } from "./action";
import { AppContext } from "./app";
import "./SignedOutDialog.css";

/** `before`: what had the focus, and has it again afterwards. */
const SignedOutDialog: Component<{ readonly before: Element | null | undefined }> = (props) => {
  const store = useContext(StoreContext);
  const before = untrack(() => props.before);
  const { session } = useContext(AppContext);
  const [other, setOther] = createSignal(false);
  let dialog: HTMLDialogElement | undefined;
  onSettled(() => {
    dialog?.showModal();
  });
  const signedIn = async () => {
    const me = await store.client.whoAmI();
    if (me === store.state().me) store.reconnect();
    else {
      // Everything on the page belongs to somebody else.
      setOther(true);
      window.location.reload();
    }
  };
  const looking = createAction();
  const look = () =>
    looking.run(async () => {
      if (!(await session.isOpen())) throw new Failure("precondition", signInText.notYet);
      await signedIn();
    });
  return (
    <dialog
      class="signed-out"
      ref={(element) => {
        dialog = element;
        keepFocus({ or: () => before })(element);
      }}
      aria-labelledby="signed-out-title"
      onCancel={(event) => event.preventDefault()}
    >
      <h2 id="signed-out-title">{shellText.signedOut}</h2>
      <p>{other() ? signInText.otherAccount : signInText.signedOutHelp}</p>
      <div class="actions">
        <span>{signInText.elsewhere}</span>
        <Button type="button" busy={looking.busy()} onClick={() => void look()}>
          {shellText.again}
        </Button>
        <span role="alert" class="error">
          {looking.error()}
        </span>
      </div>
      <SignInForm session={session} secret={undefined} onSignedIn={signedIn} />
    </dialog>
  );
};
export default SignedOutDialog;
