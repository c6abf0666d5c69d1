/** Keys of posts whose outcome is not known: the same post again is the same post, so that the server stores it once. */
import type { ChannelId, NewBlock, TopicSelector } from "../model/types";

export type BlockKind = NewBlock["kind"];

/** Where one text at a time is being written. A topic that is yet to begin may still change its name. */
const placeOf = (channelId: ChannelId, topic: TopicSelector, kind: BlockKind | undefined): string =>
  JSON.stringify([channelId, topic.kind === "id" ? topic.id : null, kind ?? null]);

export class Resends {
  private readonly kept = new Map<string, { readonly place: string; readonly key: string }>();

  /** The key of the same post, if it is kept; a further post at the same time is another one. */
  take(channelId: ChannelId, topic: TopicSelector, blocks: readonly NewBlock[]): string | undefined {
    const post = JSON.stringify([channelId, topic, blocks]);
    const known = this.kept.get(post);
    this.kept.delete(post);
    return known?.key;
  }

  keep(channelId: ChannelId, topic: TopicSelector, blocks: readonly NewBlock[], key: string): void {
    this.kept.set(JSON.stringify([channelId, topic, blocks]), { place: placeOf(channelId, topic, blocks[0]?.kind), key });
  }

  /** What was begun there is over; the same words are a new post from here on. */
  end(channelId: ChannelId, topic: TopicSelector, kind: BlockKind | undefined): void {
    const place = placeOf(channelId, topic, kind);
    for (const [post, each] of this.kept) if (each.place === place) this.kept.delete(post);
  }
}
