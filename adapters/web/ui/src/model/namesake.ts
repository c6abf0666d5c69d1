/** What has a name already. Pure. */
import type { State } from "../store/contract";
import type { Channel, ChannelId, Topic, TopicId } from "./types";

/** Names are compared as the server does: composed, whatever the case. */
const folded = (name: string): string => name.trim().normalize("NFC").toLowerCase();

const named = <T extends { readonly id: string; readonly name: string }>(all: Iterable<T>, name: string, except: string | undefined, isThere: (one: T) => boolean): T | undefined => {
  const wanted = folded(name);
  if (wanted === "") return undefined;
  for (const one of all) if (one.id !== except && isThere(one) && folded(one.name) === wanted) return one;
  return undefined;
};

/** A topic of the channel with the name: posting there posts into it, and renaming another one to it merges the two. */
export const topicNamed = (state: State, channelId: ChannelId, name: string, except?: TopicId): Topic | undefined =>
  named(state.topics.values(), name, except, (topic) => topic.channelId === channelId);

/** A channel with the name that the person sees; only within a group no two have one. */
export const channelNamed = (state: State, name: string, except?: ChannelId): Channel | undefined =>
  named(state.channels.values(), name, except, (channel) => channel.kind === "channel");
