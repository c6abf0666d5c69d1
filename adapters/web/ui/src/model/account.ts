/** Who takes part where, by the rules the server keeps to. */
import type { Account, AccountId, Channel } from "./types";

/** True if a person reads and writes the channel: by a member row, or as the owner of a tree channel's anchor. */
export const takesPart = (channel: Channel, me: AccountId, accounts: ReadonlyMap<AccountId, Account>): boolean => {
  if (channel.memberIds.includes(me)) return true;
  const anchor = channel.anchorId === undefined ? undefined : accounts.get(channel.anchorId);
  return anchor?.kind === "agent" && anchor.ownerId === me;
};
