/** The other topic of the channel with a name: renaming to it merges. Pure. */
import type { Topic } from "../../model/types";
import type { State } from "../../store/contract";

/** Names are compared as the server does: composed, whatever the case. */
const folded = (name: string): string => name.trim().normalize("NFC").toLowerCase();

export const namesake = (state: State, topic: Topic, name: string): Topic | undefined => {
  const wanted = folded(name);
  for (const other of state.topics.values()) if (other.channelId === topic.channelId && other.id !== topic.id && folded(other.name) === wanted) return other;
  return undefined;
};
