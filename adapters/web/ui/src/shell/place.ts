/** Where a message is. */
import { topicNow } from "../model/select";
import type { Channel, Message, Topic } from "../model/types";
import type { State } from "../store/contract";

export interface Place {
  readonly channel: Channel;
  readonly topic: Topic;
}

/** Undefined while its topic is not loaded, as those in the archive are. */
export const placeOf = (state: State, message: Pick<Message, "topicId">): Place | undefined => {
  const topic = state.topics.get(topicNow(state, message.topicId));
  const channel = topic && state.channels.get(topic.channelId);
  return topic && channel ? { topic, channel } : undefined;
};
