/**
 * What is unread besides the messages that ask: those are counted as what waits, and nothing is counted twice. One whose
 * ask the person answered is no news to them either, though the server counts it until the topic is read. Pure.
 */
import { unreadTotal } from "../model/select";
import type { AccountId, Ask } from "../model/types";
import type { State } from "../store/contract";

const isAnsweredBy = (ask: Ask, me: AccountId): boolean => ask.end.kind === "answered" && ask.end.by === me;

export const unreadBesides = (state: State): number => {
  const asking = new Set<string>();
  for (const [id, { message }] of [...state.openAsks, ...state.endedAsks]) {
    const isOthers = message.blocks.some((block) => block.kind === "ask" && block.ask.id === id && block.ask.end.kind !== "open" && !isAnsweredBy(block.ask, state.me));
    if (isOthers) continue;
    const position = state.positions.get(message.topicId);
    const isCounted = position !== undefined && message.seq > position.seq && message.seq <= position.countedTo && message.authorId !== state.me;
    if (isCounted && state.topics.get(message.topicId)?.archived === false) asking.add(message.id);
  }
  return unreadTotal(state) - asking.size;
};
