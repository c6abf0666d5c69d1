/** A handle, isolated from the words around it; the id where the account is not known. */
import { createMemo, useContext } from "solid-js";
import type { Component } from "solid-js";
import { visibleLine } from "../model/text";
import type { AccountId } from "../model/types";
import { StoreContext } from "../store/context";
import { shellText } from "../strings";
import "./AccountName.css";

export const AccountName: Component<{ readonly id: AccountId }> = (props) => {
  const store = useContext(StoreContext);
  const account = createMemo(() => store.state().accounts.get(props.id));
  const title = () => {
    const found = account();
    return found ? visibleLine(found.displayName) : shellText.unknownAccount;
  };
  return (
    <bdi class={["account-name", account()?.kind ?? "unknown"]} title={title()}>
      {visibleLine(account()?.handle ?? props.id)}
    </bdi>
  );
};
