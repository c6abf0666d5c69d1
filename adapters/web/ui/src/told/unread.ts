/** What is unread besides the messages that ask: those are counted as what waits, and nothing is counted twice. Pure. */
import { unreadTotal } from "../model/select";
import type { State } from "../store/contract";

export const unreadBesides = (state: State): number => {
  const asking = new Set<string>();
  for (const { message } of state.openAsks.values()) {
    const position = state.positions.get(message.topicId);
    const isCounted = position !== undefined && message.seq > position.seq && message.seq <= position.countedTo && message.authorId !== state.me;
    if (isCounted && state.topics.get(message.topicId)?.archived === false) asking.add(message.id);
  }
  return unreadTotal(state) - asking.size;
};
