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

/** The rows of messages. A row of `old`, which are those of a list before it, that says the same is kept as it is. */
export function rowsOf(messages: readonly Message[], firstUnread: string | undefined, old: readonly Row[] = []): readonly Row[] {
  const moved = movedBy(messages, old);
  return messages.map((message, index) => {
    const before = messages[index - 1];
    const kept = old[index + moved];
    const startsUnread = message.id === firstUnread;
    if (kept?.message === message && kept.startsUnread === startsUnread && old[index + moved - 1]?.message === before) return kept;
    return { id: message.id, message, startsDay: before === undefined || !sameDay(before.at, message.at), startsUnread };
  });
}

/** How far a list has moved since: messages come and go at its ends. */
const movedBy = (messages: readonly Message[], old: readonly Row[]): number => {
  const [first, oldFirst] = [messages[0]?.id, old[0]?.id];
  if (first === oldFirst) return 0;
  const gone = old.findIndex((row) => row.id === first);
  return gone > 0 ? gone : -Math.max(0, messages.findIndex((message) => message.id === oldFirst));
};

/** The first message of others after the place up to which was read; undefined if all was read, or nothing is known. */
export function firstUnread(messages: readonly Message[], position: ReadPosition | undefined, me: AccountId): string | undefined {
  if (!position || position.unread === 0) return undefined;
  return messages.find((message) => message.seq > position.seq && message.authorId !== me)?.id;
}

/** Messages of others after the last one that was at hand when the view left the end. */
export function arrivedSince(messages: readonly Message[], seq: number, me: AccountId): number {
  return messages.filter((message) => message.seq > seq && message.authorId !== me).length;
}
