/** Why somebody cannot leave a channel, or be put out of it, by the server's rules. Pure. */
import { handleOf } from "../../model/select";
import { visibleLine } from "../../model/text";
import type { AccountId, Channel } from "../../model/types";
import type { State } from "../../store/contract";

export type Stay =
  /** Owns the channel. */
  | { readonly kind: "owner" }
  /** Owns an agent that is a member, and stays as long as it. */
  | { readonly kind: "agent"; readonly handle: string };

/** Undefined if nothing keeps the account in. */
export const staying = (state: State, channel: Channel, id: AccountId): Stay | undefined => {
  if (channel.ownerId === id) return { kind: "owner" };
  const agent = channel.memberIds.find((member) => {
    const account = state.accounts.get(member);
    return account?.kind === "agent" && account.ownerId === id;
  });
  return agent === undefined ? undefined : { kind: "agent", handle: visibleLine(handleOf(state, agent)) };
};
