/** Shows the way back in once the session has ended. */
import { createMemo, Loading, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { lazyPart } from "../lazy";
import { StoreContext } from "../store/context";
import { shellText } from "../strings";

const SignedOutDialog = lazyPart(() => import("./SignedOutDialog"), shellText.signedOut);

export const SignedOut: Component = () => {
  const store = useContext(StoreContext);
  const out = createMemo(() => store.connection().kind === "signed_out");
  return (
    <Show when={out()}>
      <Loading fallback={null}>
        <SignedOutDialog />
      </Loading>
    </Show>
  );
};
