/** What was begun and not sent, by the key of where it was begun; it goes along when its topic is joined to another one. */
import { createSignal } from "solid-js";
import { topicNow } from "../model/select";
import type { ChannelId, TopicId } from "../model/types";
import type { State } from "./contract";
import { isRecord, isText, parsed } from "./kept";
import type { Kept } from "./kept";

/** Where the draft of a topic's next message is kept. */
export const messageDraft = (topicId: TopicId): string => `message:${topicId}`;
/** Where the ask that is being composed for a topic is kept: a list, as JSON, of what only its composer knows. */
export const askDraft = (topicId: TopicId): string => `ask:${topicId}`;
/** Where the name and the first message of a new topic are kept. */
export const newTopicDrafts = (channelId: ChannelId) => ({ name: `topic-name:${channelId}`, text: `topic-text:${channelId}` });

/** Which message, ask or new topic a key is of; undefined of what is kept beside them. A new topic has two texts. */
const placeOf = (key: string): string | undefined => {
  const place = key.replace(/^topic-(?:name|text):/, "topic:");
  return /^(?:message|ask|topic):/.test(place) ? place : undefined;
};

/** Two lists, as JSON, as one. */
const joined = (first: string, second: string): string => JSON.stringify([first, second].flatMap(listOf));
const listOf = (text: string): readonly unknown[] => {
  const list = parsed(text);
  return Array.isArray(list) ? list : [];
};

export class Drafts {
  private readonly texts = new Map<string, string>();
  private readonly changes = createSignal(0, { ownedWrite: true });

  constructor(private readonly kept: Kept) {
    const stored = kept.read();
    if (isRecord(stored)) for (const [key, text] of Object.entries(stored)) if (isText(text)) this.texts.set(key, text);
  }

  /** Reactive; "" if there is none. */
  read(key: string): string {
    this.changes[0]();
    return this.now(key);
  }

  /** Reactive: how many messages, asks and new topics are begun. */
  count(): number {
    this.changes[0]();
    const places = [...this.texts].flatMap(([key, text]) => (text.trim() === "" ? [] : (placeOf(key) ?? [])));
    return new Set(places).size;
  }

  /** An empty text is no draft. */
  write(key: string, text: string): void {
    if (text === "") this.texts.delete(key);
    else this.texts.set(key, text);
    this.kept.write(this.texts.size === 0 ? undefined : Object.fromEntries(this.texts));
    this.changes[1]((count) => count + 1);
  }

  /** Puts a text before what is there. */
  putBefore(key: string, text: string): void {
    const there = this.now(key);
    this.write(key, there.trim() === "" ? text : `${text}\n\n${there}`);
  }

  putAskBefore(key: string, ask: string): void {
    const there = this.now(key);
    this.write(key, there === "" ? ask : joined(ask, there));
  }

  /** Where another topic is begun its name stays, and this one's stands with the message. */
  putTopicBefore(channelId: ChannelId, name: string, text: string): void {
    const drafts = newTopicDrafts(channelId);
    const isBegun = this.now(drafts.name).trim() !== "";
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

  private now(key: string): string {
    return this.texts.get(key) ?? "";
  }

  private take(key: string, put: (text: string) => void): void {
    const text = this.now(key);
    if (text === "") return;
    this.write(key, "");
    put(text);
  }
}
