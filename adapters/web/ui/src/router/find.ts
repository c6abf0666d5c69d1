/** Where a message is, for an address whose topic is gone: what is read of a whole channel tells it. */
import { Failure } from "../model/client";
import type { Client } from "../model/client";
import type { ChannelId, MessageId, TopicId } from "../model/types";

/** As many as the server gives at once, and how often it is asked for one address. */
const PAGE = 200;
const PAGES = 20;

/** Undefined if it is not in the channel, or too far back to be looked for. */
export const findTopic = async (client: Pick<Client, "listMessages">, channelId: ChannelId, messageId: MessageId): Promise<TopicId | undefined> => {
  const read = (before: MessageId | undefined, limit: number) => client.listMessages({ channelId, topicId: "", before, limit, snapshot: undefined });
  const older = await read(messageId, 1).catch((error: unknown) => {
    if (error instanceof Failure && error.kind === "invalid") return undefined;
    throw error;
  });
  // Refused: it is no message of the channel.
  if (!older) return undefined;
  // Places of a channel are dense.
  const seq = (older[0]?.seq ?? 0) + 1;
  let before: MessageId | undefined;
  for (let count = 0; count < PAGES; count += 1) {
    const page = await read(before, PAGE);
    const found = page.find((message) => message.id === messageId);
    const last = page.at(-1);
    if (found || !last || last.seq <= seq) return found?.topicId;
    before = last.id;
  }
  return undefined;
};
