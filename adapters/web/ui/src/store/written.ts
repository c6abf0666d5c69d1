/** What is being written, as signals over the drafts of a store; it goes along when its topic is joined to another one. */
import { createSignal } from "solid-js";
import { topicNow } from "../model/select";
import type { TopicId } from "../model/types";
import { browserWorld } from "./browser";
import type { State, Store } from "./contract";
import { parsed } from "./kept";

/** Where the draft of a topic's next message is kept. */
export const messageDraft = (topicId: TopicId): string => `message:${topicId}`;
/** Where the ask that is being composed for a topic is kept: a list, as JSON, of what only its composer knows. */
export const askDraft = (topicId: TopicId): string => `ask:${topicId}`;
const postKeyDraft = (key: string): string => `key:${key}`;

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
    if (this.store.draft(key) !== text) this.renewKey(key);
    this.store.setDraft(key, text);
    this.changes[1]((count) => count + 1);
  }

  /** The key to post a draft under: the same one until the draft is changed, over a reload too, so that it is stored once. */
  postKey(key: string): string {
    const known = this.store.draft(postKeyDraft(key));
    if (known !== "") return known;
    const made = newKey();
    this.store.setDraft(postKeyDraft(key), made);
    return made;
  }

  /** What is posted with the draft has changed. */
  renewKey(key: string): void {
    if (this.store.draft(postKeyDraft(key)) !== "") this.store.setDraft(postKeyDraft(key), "");
  }

  /** Puts a text before what is there. */
  putBefore(key: string, text: string): void {
    const there = this.store.draft(key);
    this.write(key, there.trim() === "" ? text : `${text}\n\n${there}`);
  }

  /** Moves what was begun in topics that are no more. */
  follow(state: State): void {
    for (const from of state.merged.keys()) {
      const into = topicNow(state, from);
      this.take(messageDraft(from), (text) => this.putBefore(messageDraft(into), text));
      this.take(askDraft(from), (ask) => this.write(askDraft(into), joined(ask, this.store.draft(askDraft(into)))));
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
