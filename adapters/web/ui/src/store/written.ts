/** What is being written, as signals over the drafts of a store; it goes along when its topic is joined to another one. */
import { createSignal } from "solid-js";
import { topicNow } from "../model/select";
import type { ChannelId, TopicId } from "../model/types";
import { browserWorld } from "./browser";
import type { State, Store } from "./contract";
import { parsed } from "./kept";

/** Where the draft of a topic's next message is kept. */
export const messageDraft = (topicId: TopicId): string => `message:${topicId}`;
/** Where the ask that is being composed for a topic is kept: a list, as JSON, of what only its composer knows. */
export const askDraft = (topicId: TopicId): string => `ask:${topicId}`;
/** Where the name and the first message of a new topic are kept. */
export const newTopicDrafts = (channelId: ChannelId) => ({ name: `topic-name:${channelId}`, text: `topic-text:${channelId}` });

/** Two lists, as JSON, as one. */
const joined = (first: string, second: string): string => JSON.stringify([first, second].flatMap(listOf));
const listOf = (text: string): readonly unknown[] => {
  const list = parsed(text);
  return Array.isArray(list) ? list : [];
};

export class Written {
  private readonly changes = createSignal(0, { ownedWrite: true });

  constructor(private readonly store: Pick<Store, "draft" | "setDraft">) {}

  /** Reactive. */
  read(key: string): string {
    this.changes[0]();
    return this.store.draft(key);
  }

  write(key: string, text: string): void {
    this.store.setDraft(key, text);
    this.changes[1]((count) => count + 1);
  }

  /** Puts a text before what is there. */
  putBefore(key: string, text: string): void {
    const there = this.store.draft(key);
    this.write(key, there.trim() === "" ? text : `${text}\n\n${there}`);
  }

  putAskBefore(key: string, ask: string): void {
    const there = this.store.draft(key);
    this.write(key, there === "" ? ask : joined(ask, there));
  }

  /** Where another topic is begun its name stays, and this one's stands with the message. */
  putTopicBefore(channelId: ChannelId, name: string, text: string): void {
    const drafts = newTopicDrafts(channelId);
    const isBegun = this.store.draft(drafts.name).trim() !== "";
    if (!isBegun) this.write(drafts.name, name);
    this.putBefore(drafts.text, isBegun ? `${name}\n\n${text}` : text);
  }

  /** Moves what was begun in topics that are no more. */
  follow(state: State): void {
    for (const from of state.merged.keys()) {
      const into = topicNow(state, from);
      this.take(messageDraft(from), (text) => this.putBefore(messageDraft(into), text));
      this.take(askDraft(from), (ask) => this.putAskBefore(askDraft(into), ask));
    }
  }

  private take(key: string, put: (text: string) => void): void {
    const text = this.store.draft(key);
    if (text === "") return;
    this.write(key, "");
    put(text);
  }
}

/** So many random letters that no two posts share a key by chance. */
export const newKey = (): string => Array.from({ length: 4 }, () => Math.floor(browserWorld.random() * 0x1_0000_0000).toString(36)).join("");
