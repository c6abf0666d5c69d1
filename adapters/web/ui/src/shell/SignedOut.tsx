/** Shows the way back in once the session has ended; loaded only then. */
import { createMemo, lazy, Loading, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { StoreContext } from "../store/context";

const SignedOutDialog = lazy(() => import("./SignedOutDialog"));

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
