/** Someone named with `@`: known, unknown, or one of the names for many. */
import { useContext } from "solid-js";
import type { Component } from "solid-js";
import { visible, visibleLine } from "../model/text";
import type { Account, AccountId } from "../model/types";
import { StoreContext } from "../store/context";
import { isReserved } from "./mentions";

/** Accounts by handle, made once for each state of the accounts. */
const byHandle = new WeakMap<ReadonlyMap<AccountId, Account>, ReadonlyMap<string, Account>>();

function accountCalled(accounts: ReadonlyMap<AccountId, Account>, handle: string): Account | undefined {
  let index = byHandle.get(accounts);
  if (!index) {
    index = new Map([...accounts.values()].map((account) => [account.handle.toLowerCase(), account]));
    byHandle.set(accounts, index);
  }
  return index.get(handle);
}

export const Mention: Component<{ readonly text: string; readonly handle: string }> = (props) => {
  const store = useContext(StoreContext);
  const account = () => accountCalled(store.state().accounts, props.handle);
  const look = () => (isReserved(props.handle) ? "reserved" : account() ? "known" : "unknown");
  const title = () => {
    const found = account();
    return found && visibleLine(found.displayName);
  };
  return (
    <bdi class={["mention", look()]} title={title()}>
      {visible(props.text)}
    </bdi>
  );
};
