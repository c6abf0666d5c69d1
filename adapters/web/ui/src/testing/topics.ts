/** The topics of channel "c" in every state that its lists tell apart, and one of another channel. */
import type { State } from "../store/contract";
import { byId, position, topic } from "./builders";

const at = (name: string, lastActivity: number, messageCount = 1, change = {}) => topic(name, "c", { lastActivity, messageCount, ...change });

export const listed: Pick<State, "topics" | "positions"> = {
  topics: byId([
    at("b", 5), at("a", 5), at("new", 0, 0, { createdAt: 9 }), at("old", 1), at("gone", 99, 1, { archived: true }),
    topic("foreign", "d", { lastActivity: 100, messageCount: 1 }),
  ]),
  positions: new Map([["a", 2], ["old", 1], ["gone", 7]].map(([name, unread]) => [`topic-${name}`, position(`topic-${name}`, { unread: Number(unread) })])),
};
