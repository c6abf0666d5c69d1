/** What the rows of a stream hold beside their messages, and what is new in them. Pure. */
import type { AccountId, Message, ReadPosition } from "../model/types";
import { sameDay } from "./clock";

export interface Row {
  readonly id: string;
  readonly message: Message;
  /** The first message of its day. */
  readonly startsDay: boolean;
  /** The first message that was not read when the topic was opened. */
  readonly startsUnread: boolean;
}

export function rowsOf(messages: readonly Message[], firstUnread: string | undefined): readonly Row[] {
  return messages.map((message, index) => {
    const before = messages[index - 1];
    return { id: message.id, message, startsDay: before === undefined || !sameDay(before.at, message.at), startsUnread: message.id === firstUnread };
  });
}

/** The first message of others after the place up to which was read; undefined if all was read, or nothing is known. */
export function firstUnread(messages: readonly Message[], position: ReadPosition | undefined, me: AccountId): string | undefined {
  if (!position || position.unread === 0) return undefined;
  return messages.find((message) => message.seq > position.seq && message.authorId !== me)?.id;
}

/** Messages of others after the last one that was at hand when the view left the end. */
export function arrivedSince(messages: readonly Message[], seq: number, me: AccountId): number {
  return messages.filter((message) => message.seq > seq && message.authorId !== me).length;
}
