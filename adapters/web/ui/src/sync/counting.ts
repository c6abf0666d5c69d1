/**
 * How counters follow events without counting anything twice. Everything that counts is in this file.
 *
 * Everything that counts says up to which `seq` it counts: a topic's counters (`lastSeq`), a read position (`countedTo`),
 * and a channel as a whole (`reach`). Places of a channel are dense and told in order, so that is all one needs to know:
 *
 * 1. A message counts for each of them if its `seq` is above; then that one reaches to it. A replayed message, or one that
 *    a read has seen, is not above. The three are asked apart: a topic is told with its counters before the message that
 *    made it is told.
 * 2. Counters that were read or told replace ours if they reach further.
 * 3. Own messages are never unread.
 * 4. Open asks are a set, not a number: a topic has as many as the set holds of it. An ask is added by a message that is
 *    above its channel's reach, since asks are read after topics, and taken out when it closes. It never opens again.
 * 5. A topic nobody listed is new if it reaches beyond its channel; otherwise it is an old story.
 */
import type { AccountId, ChannelId, Message, ReadPosition, Topic } from "../model/types";

/** How many authors the server lists for a topic. */
const LISTED_PARTICIPANTS = 5;

/** How far channels reach whose topics were all listed. */
export const reachOf = (topics: Iterable<Topic>): ReadonlyMap<ChannelId, number> => {
  const reach = new Map<ChannelId, number>();
  for (const topic of topics) reach.set(topic.channelId, Math.max(reach.get(topic.channelId) ?? 0, topic.lastSeq));
  return reach;
};

const withAuthor = (participants: readonly AccountId[], author: AccountId): readonly AccountId[] =>
  participants.length >= LISTED_PARTICIPANTS || participants.includes(author) ? participants : [...participants, author];

/** Rule 1 for a topic; the same topic if the message is counted already. */
export const countMessage = (topic: Topic, message: Message): Topic =>
  message.seq > topic.lastSeq
    ? {
        ...topic,
        messageCount: topic.messageCount + 1,
        lastSeq: message.seq,
        lastActivity: Math.max(topic.lastActivity, message.at),
        participantIds: withAuthor(topic.participantIds, message.authorId),
      }
    : topic;

const unknown = (topicId: string): ReadPosition => ({ topicId, seq: 0, unread: 0, countedTo: 0 });

/** Rules 1 and 3 for a read position; undefined stands for a topic that is new. */
export const countUnread = (position: ReadPosition | undefined, message: Message, me: AccountId): ReadPosition => {
  const before = position ?? unknown(message.topicId);
  if (message.seq <= before.countedTo) return before;
  const isUnread = message.authorId !== me && message.seq > before.seq;
  return { ...before, unread: before.unread + (isUnread ? 1 : 0), countedTo: message.seq };
};

/** Rule 2: the told topic with the counters that reach further. Open asks stay ours (rule 4). */
export const newerTopic = (ours: Topic, told: Topic): Topic => {
  if (told.lastSeq > ours.lastSeq) return { ...told, openAsks: ours.openAsks };
  const { messageCount, lastSeq, lastActivity, participantIds, openAsks } = ours;
  return { ...told, messageCount, lastSeq, lastActivity, participantIds, openAsks };
};

/** Rule 2 for positions. A person's position only moves forward, so of two the later one is ahead in both. */
export const newerPosition = (ours: ReadPosition | undefined, told: ReadPosition): ReadPosition =>
  ours === undefined || (told.seq >= ours.seq && told.countedTo >= ours.countedTo) ? told : ours;

/** What two topics become. `told` is what the server said of it, which is all there is to know if one of them is unknown. */
export const joinTopics = (from: Topic | undefined, into: Topic | undefined, told: Topic): Topic => {
  if (!from || !into) return into ? newerTopic(into, told) : told;
  const joined: Topic = {
    ...told,
    messageCount: from.messageCount + into.messageCount,
    lastSeq: Math.max(from.lastSeq, into.lastSeq),
    lastActivity: Math.max(from.lastActivity, into.lastActivity),
    openAsks: from.openAsks + into.openAsks,
  };
  if (told.lastSeq > joined.lastSeq) return newerTopic(joined, told);
  const late = into.participantIds.reduce(withAuthor, told.participantIds);
  return { ...joined, participantIds: late };
};

/**
 * Where a person stands in what two topics became: no unread message becomes a read one, so the lower position counts unless
 * all of its topic was read. A person that has one is told the exact one right after.
 */
export const joinPositions = (
  from: { readonly topic: Topic; readonly position: ReadPosition | undefined },
  into: { readonly topic: Topic; readonly position: ReadPosition | undefined },
): ReadPosition => {
  const [one, other] = [from.position ?? unknown(from.topic.id), into.position ?? unknown(into.topic.id)];
  const [allOne, allOther] = [one.seq >= from.topic.lastSeq, other.seq >= into.topic.lastSeq];
  const seq = allOne && allOther ? Math.max(one.seq, other.seq) : allOne ? other.seq : allOther ? one.seq : Math.min(one.seq, other.seq);
  return { topicId: into.topic.id, seq, unread: one.unread + other.unread, countedTo: Math.max(one.countedTo, other.countedTo) };
};
