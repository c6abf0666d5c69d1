/** Versions of one message, and lists of messages in the order of their channel. Pure. */
import type { Block, Message } from "../model/types";

/**
 * Of two versions of a message the one that knows more. Only the ends of asks ever change, and an ask that has ended never
 * opens again, so an ended one stays whatever comes late.
 */
export const newerMessage = (ours: Message, told: Message): Message => {
  const ended = (index: number): Block | undefined => {
    const [before, after] = [ours.blocks[index], told.blocks[index]];
    const isReopened = before?.kind === "ask" && after?.kind === "ask" && before.ask.id === after.ask.id && before.ask.end.kind !== "open" && after.ask.end.kind === "open";
    return isReopened ? before : undefined;
  };
  const keeps = told.blocks.some((_, index) => ended(index) !== undefined);
  return keeps ? { ...told, blocks: told.blocks.map((block, index) => ended(index) ?? block) } : told;
};

/** The list with the message in its place; a message that is there already is replaced. The input is left alone. */
export const upsert = (messages: readonly Message[], message: Message): readonly Message[] => {
  const last = messages.at(-1);
  if (!last || message.seq > last.seq) return [...messages, message];
  const at = messages.findIndex((each) => each.id === message.id);
  const ours = messages[at];
  if (ours && ours.seq === message.seq) return messages.with(at, newerMessage(ours, message));
  const rest = ours ? messages.filter((each) => each.id !== message.id) : messages;
  const place = rest.findIndex((each) => each.seq > message.seq);
  const version = ours ? newerMessage(ours, message) : message;
  return place < 0 ? [...rest, version] : rest.toSpliced(place, 0, version);
};

/** Both lists as one, in order, every message once. */
export const union = (one: readonly Message[], other: readonly Message[]): readonly Message[] => {
  const byId = new Map(one.map((message) => [message.id, message]));
  for (const message of other) {
    const ours = byId.get(message.id);
    byId.set(message.id, ours ? newerMessage(ours, message) : message);
  }
  return [...byId.values()].sort((a, b) => a.seq - b.seq);
};
