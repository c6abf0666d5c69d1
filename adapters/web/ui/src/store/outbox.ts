/** What was sent and is not known to be stored: messages, asks, new topics, each under a key of its own, in their order, until it is. */
import { createEffect, createRoot, createSignal, runWithOwner, untrack } from "solid-js";
import { Failure, isUncertain } from "../model/client";
import { topicNow } from "../model/select";
import { errorText } from "../model/text";
import type { Block, ChannelId, Message, MessageId, NewBlock, TopicId, TopicSelector } from "../model/types";
import type { World } from "../sync/run";
import { formOf, toAsk } from "./ask-form";
import type { State, Store } from "./contract";
import { askDraft, messageDraft, newTopicDrafts } from "./drafts";
import { isRecord, isText, parsed } from "./kept";

/** After this long the first time, in ms, and twice as long each further time; so often while the connection stands. */
export const AGAIN_AFTER_MS = 1_000;
export const TRIES = 5;

type Words =
  | { readonly kind: "message" | "ask"; readonly channelId: ChannelId; readonly topicId: TopicId; readonly text: string }
  | { readonly kind: "topic"; readonly channelId: ChannelId; readonly name: string; readonly text: string };

export interface Sent {
  readonly key: string;
  readonly kind: Words["kind"];
  readonly channelId: ChannelId;
  /** "" for a new topic. */
  readonly topicId: TopicId;
  /** Of a new topic. */
  readonly name: string;
  /** As it was written; of an ask its form. */
  readonly text: string;
  /** `waiting`: it was not sent yet. `unknown`: it may be stored. `refused`: it is not, and could not go back to where it was written. */
  readonly status: "waiting" | "sending" | "unknown" | "refused";
  /** What the server said last. */
  readonly said: string;
  /** The channel's highest `seq` that was known when it was sent: what it became stands above. */
  readonly after: number;
}

/** Whether it can be written anew: what may be stored cannot, for two could come of it, and neither can be taken back. */
export const mayEdit = ({ status }: Sent): boolean => status === "waiting" || status === "refused";
/** Whether it can be taken off the list, which takes nothing back of what is stored. */
export const mayDiscard = ({ status }: Sent): boolean => status !== "sending";

/** Among the drafts of the tab, so that it outlives the page as they do. */
const DRAFT = "outbox";

export class Outbox {
  private list: readonly Sent[];
  private readonly shown;
  /** By draft: why the server refused what went back into it. */
  private readonly refusals = createSignal<ReadonlyMap<string, string>>(new Map(), { ownedWrite: true });
  private readonly onItsWay = new Set<string>();
  private readonly waits = new Map<string, () => void>();
  private readonly tries = new Map<string, number>();
  /** Who wants to hear that it is stored. */
  private readonly listeners = new Map<string, (message: Message) => void>();
  /** Messages that are known to be what was sent; each is one thing only. */
  private readonly known = new Set<MessageId>();
  private isLive = false;
  private isOver = false;
  private readonly unfollow: () => void;

  /** Lives as long as the store: what was sent goes on whatever is looked at. */
  constructor(private readonly store: Omit<Store, "outbox">, private readonly world: Pick<World, "newKey">) {
    this.list = restored(untrack(() => store.drafts.read(DRAFT)));
    this.shown = createSignal(this.list, { ownedWrite: true });
    this.unfollow = runWithOwner(null, () => createRoot((dispose) => {
      createEffect(() => store.connection().kind === "live", (isLive) => this.connected(isLive));
      createEffect(() => store.state(), (state, before) => {
        if (state.merged !== before?.merged) this.follow(state);
        if (state.windows !== before?.windows || state.openAsks !== before.openAsks) this.recognize(state);
      });
      return dispose;
    }));
  }

  /** Sends nothing any more. What is on its way is kept as it is, for the next page. */
  dispose(): void {
    this.isOver = true;
    this.unfollow();
    for (const stop of [...this.waits.values()]) stop();
  }

  /** Reactive: what of the topic is not known to be stored, in its order. */
  of(channelId: ChannelId, topicId: TopicId): readonly Sent[] {
    const state = this.store.state();
    // A topic that is gone without a word leaves its messages to the channel: they must be seen somewhere.
    const isHere = (each: Sent) => topicNow(state, each.topicId) === topicId || (state.ready && each.channelId === channelId && !state.topics.has(each.topicId));
    return this.shown[0]().filter((each) => each.kind !== "topic" && isHere(each));
  }

  /** Reactive: which new topics of the channel are not known to be stored. */
  topicsOf(channelId: ChannelId): readonly Sent[] {
    return this.shown[0]().filter((each) => each.kind === "topic" && each.channelId === channelId);
  }

  /** Reactive: of how much it is not known that it is stored. */
  count(): number {
    return this.shown[0]().length;
  }

  /** Reactive: why what was sent last is in the draft again. */
  refusal(draft: string): string | undefined {
    return this.refusals[0]().get(draft);
  }

  /** What went back into the draft was given up. */
  dismissRefusal(draft: string): void {
    this.refuse(draft, undefined);
  }

  /** `stored` is called once it is known to be, however late, unless the page is gone by then. */
  send(words: Words, stored?: (message: Message) => void): void {
    const sent: Sent = { topicId: "", name: "", ...words, key: this.world.newKey(), status: "waiting", said: "", after: untrack(this.store.state).reach.get(words.channelId) ?? 0 };
    this.refuse(this.draftOf(sent), undefined);
    if (stored) this.listeners.set(sent.key, stored);
    this.put([...this.list, sent]);
    this.pump();
  }

  /** Does not wait any longer. */
  now(key: string): void {
    this.change(key, (each) => (each.status === "refused" ? { ...each, status: "sending" } : each));
    this.waits.get(key)?.();
    this.tries.delete(key);
    this.ship(key);
  }

  /** Takes it back to be written anew: a message and an ask in the topic that shows it, which need not be its own. */
  edit(key: string, into?: TopicId): void {
    const each = this.find(key);
    if (!each || !mayEdit(each)) return;
    this.remove(key);
    this.giveBack(each, into ?? this.place(each));
  }

  /** Takes it off the list; what waited for it goes on. */
  discard(key: string): void {
    const each = this.find(key);
    if (each && mayDiscard(each)) this.remove(key);
  }

  private find(key: string): Sent | undefined {
    return this.list.find((each) => each.key === key);
  }

  private place(each: Sent): TopicId {
    return topicNow(untrack(this.store.state), each.topicId);
  }

  /** Where it was written. What was written in one place is sent one after the other. */
  private draftOf(each: Sent): string {
    switch (each.kind) {
      case "message":
        return messageDraft(this.place(each));
      case "ask":
        return askDraft(this.place(each));
      case "topic":
        return newTopicDrafts(each.channelId).text;
    }
  }

  private put(list: readonly Sent[]): void {
    this.list = list;
    this.store.drafts.write(DRAFT, list.length === 0 ? "" : JSON.stringify(list));
    this.shown[1](list);
  }

  private change(key: string, change: (each: Sent) => Sent): void {
    this.put(this.list.map((each) => (each.key === key ? change(each) : each)));
  }

  private remove(key: string): void {
    this.waits.get(key)?.();
    this.tries.delete(key);
    this.listeners.delete(key);
    this.put(this.list.filter((each) => each.key !== key));
    this.pump();
  }

  private refuse(draft: string, said: string | undefined): void {
    this.refusals[1]((before) => {
      const after = new Map(before);
      if (said === undefined) after.delete(draft);
      else after.set(draft, said);
      return after;
    });
  }

  /** Whether it can go back to where it was written: what is written for a topic that is gone, nobody sees. */
  private isFree(each: Sent): boolean {
    const { topics, channels } = untrack(this.store.state);
    const drafts = each.kind === "topic" ? Object.values(newTopicDrafts(each.channelId)) : [this.draftOf(each)];
    const isThere = each.kind === "topic" ? channels.has(each.channelId) : topics.has(this.place(each));
    return isThere && drafts.every((draft) => this.store.drafts.read(draft) === "");
  }

  private giveBack(each: Sent, into: TopicId): void {
    switch (each.kind) {
      case "message":
        this.store.drafts.putBefore(messageDraft(into), each.text);
        break;
      case "ask":
        this.store.drafts.putAskBefore(askDraft(into), each.text);
        break;
      case "topic":
        this.store.drafts.putTopicBefore(each.channelId, each.name, each.text);
    }
  }

  private connected(isLive: boolean): void {
    this.isLive = isLive;
    this.tries.clear();
    for (const stop of [...this.waits.values()]) stop();
    this.pump();
  }

  private follow(state: State): void {
    this.store.drafts.follow(state);
    const moved = this.list.filter((each) => topicNow(state, each.topicId) !== each.topicId);
    if (moved.length === 0) return;
    for (const { key } of moved) this.tries.delete(key);
    this.put(this.list.map((each) => ({ ...each, topicId: topicNow(state, each.topicId) })));
    this.pump();
  }

  /** Sees to the first of each place; the others wait for it, so that they keep their order. */
  private pump(): void {
    const seen = new Set<string>();
    for (const each of this.list) {
      const draft = this.draftOf(each);
      if (each.status === "refused" || seen.has(draft)) continue;
      seen.add(draft);
      if (each.status === "unknown") this.wait(each.key);
      else this.ship(each.key);
    }
  }

  private wait(key: string): void {
    const tries = this.tries.get(key) ?? 0;
    if (!this.isLive || tries >= TRIES || this.waits.has(key) || this.onItsWay.has(key)) return;
    const stop = () => {
      clearTimeout(timer);
      this.waits.delete(key);
    };
    const timer = setTimeout(() => {
      stop();
      this.tries.set(key, tries + 1);
      this.ship(key);
    }, AGAIN_AFTER_MS * 2 ** tries);
    this.waits.set(key, stop);
  }

  private ship(key: string): void {
    const each = this.find(key);
    if (!each || this.onItsWay.has(key)) return;
    this.onItsWay.add(key);
    if (each.status === "waiting") this.change(key, (now) => ({ ...now, status: "sending" }));
    const ended = (end: () => void) => {
      if (this.isOver) return;
      this.onItsWay.delete(key);
      end();
      this.pump();
    };
    const topic: TopicSelector = each.kind === "topic" ? { kind: "name", name: each.name } : { kind: "id", id: this.place(each) };
    this.store.post(each.channelId, topic, blocksOf(each), key).then(
      (message) => ended(() => this.stored(key, message)),
      (error: unknown) => ended(() => this.failed(key, error)),
    );
  }

  /** What is told and cannot be anything else than what was sent is stored, whatever becomes of the reply. */
  private recognize(state: State): void {
    for (const each of this.list) {
      if (each.status !== "sending" && each.status !== "unknown") continue;
      const message = messagesOf(state, topicNow(state, each.topicId)).find(
        ({ id, authorId, seq, blocks }) => authorId === state.me && seq > each.after && !this.known.has(id) && isSame(blocks, blocksOf(each)),
      );
      if (message) this.stored(each.key, message);
    }
  }

  private stored(key: string, message: Message): void {
    this.known.add(message.id);
    const listener = this.listeners.get(key);
    this.remove(key);
    listener?.(message);
  }

  private failed(key: string, error: unknown): void {
    const each = this.find(key);
    if (!each) return;
    // Its key stands for something else on the server: for itself, stored before its topic was joined to another.
    if (error instanceof Failure && error.kind === "already") {
      this.remove(key);
      return;
    }
    const said = errorText(error);
    // That a try is refused says nothing of an earlier one that may have been kept.
    if (isUncertain(error) || each.status === "unknown") this.change(key, (now) => ({ ...now, status: "unknown", said }));
    else if (this.isFree(each)) {
      this.remove(key);
      this.giveBack(each, this.place(each));
      this.refuse(this.draftOf(each), said);
    } else this.change(key, (now) => ({ ...now, status: "refused", said }));
  }
}

const blocksOf = ({ kind, text }: Sent): readonly NewBlock[] => (kind === "ask" ? [{ kind, ask: toAsk(formOf(text)) }] : [{ kind: "text", text: text.trim() }]);

/** What is loaded of a topic, oldest first, and what waits for an answer in it. */
const messagesOf = (state: State, topicId: TopicId): readonly Message[] => [
  ...(state.windows.get(topicId)?.messages ?? []),
  ...[...state.openAsks.values()].flatMap(({ message }) => (message.topicId === topicId ? [message] : [])),
];

/** True if a message says what was sent, and nothing else. */
const isSame = (said: readonly Block[], sent: readonly NewBlock[]): boolean => JSON.stringify(said.map(asSent)) === JSON.stringify(sent);

/** A block without what the server adds to it. */
const asSent = (block: Block): NewBlock | undefined => {
  switch (block.kind) {
    case "text":
      return { kind: "text", text: block.text };
    case "ask":
      return {
        kind: "ask",
        ask: { questions: block.ask.questions.map(({ id, question, header, multiple, recommended, options }) => ({ id, question, header, multiple, recommended, options: options.map(({ id: option, label, description, preview }) => ({ id: option, label, description, preview })) })) },
      };
    case "answer":
    case "unknown":
      return undefined;
  }
};

/** What a page that is gone left behind: nobody knows what became of what was on its way. */
const restored = (draft: string): readonly Sent[] => {
  if (draft === "") return [];
  const stored = parsed(draft);
  return Array.isArray(stored) ? stored.flatMap((each: unknown) => sentOf(each) ?? []) : [];
};

const sentOf = (value: unknown): Sent | undefined => {
  if (!isRecord(value)) return undefined;
  const { key, kind, channelId, topicId, name, text, status, said, after } = value;
  if (!isText(key) || !isText(channelId) || !isText(topicId) || !isText(text)) return undefined;
  return {
    key, channelId, topicId, text,
    kind: kind === "ask" || kind === "topic" ? kind : "message",
    name: isText(name) ? name : "",
    status: status === "refused" || status === "waiting" ? status : "unknown",
    said: isText(said) ? said : "",
    after: typeof after === "number" ? after : Number.POSITIVE_INFINITY,
  };
};
