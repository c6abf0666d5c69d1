/** Messages that were sent and are not known to be stored: each under a key of its own, in their order, until they are. */
import { createEffect, createRoot, createSignal, runWithOwner, untrack } from "solid-js";
import { Failure, isUncertain } from "../model/client";
import { topicNow } from "../model/select";
import { errorText } from "../model/text";
import type { ChannelId, TopicId } from "../model/types";
import type { State, Store } from "./contract";
import { isRecord, isText, parsed } from "./kept";
import { AGAIN_AFTER_MS, TRIES } from "./retry";
import { messageDraft, newKey, Written } from "./written";

export interface Sent {
  readonly key: string;
  readonly channelId: ChannelId;
  readonly topicId: TopicId;
  readonly text: string;
  /** `unknown`: it may be stored. `refused`: it is not, and its words could not go back to where they were written. */
  readonly status: "sending" | "unknown" | "refused";
  /** What the server said last. */
  readonly said: string;
}

/** Among the drafts of the tab, so that it outlives the page as they do. */
const DRAFT = "outbox";

export class Outbox {
  readonly written: Written;
  private list: readonly Sent[];
  private readonly shown;
  /** By topic: why the server refused what went back into the field. */
  private readonly refusals = createSignal<ReadonlyMap<TopicId, string>>(new Map(), { ownedWrite: true });
  private readonly onItsWay = new Set<string>();
  private readonly waits = new Map<string, () => void>();
  private readonly tries = new Map<string, number>();
  private isLive = false;
  private isOver = false;
  private readonly unfollow: () => void;

  /** Lives as long as the store: what was sent goes on whatever is looked at. */
  constructor(private readonly store: Omit<Store, "outbox">) {
    this.written = new Written(store);
    this.list = restored(store.draft(DRAFT));
    this.shown = createSignal(this.list, { ownedWrite: true });
    this.unfollow = runWithOwner(null, () => createRoot((dispose) => {
      createEffect(() => store.connection().kind === "live", (isLive) => this.connected(isLive));
      createEffect(() => store.state(), (state, before) => {
        if (state.merged !== before?.merged) this.follow(state);
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
    return this.shown[0]().filter(isHere);
  }

  /** Reactive: why what was sent last is in the field again. */
  refusal(topicId: TopicId): string | undefined {
    return this.refusals[0]().get(topicId);
  }

  send(channelId: ChannelId, topicId: TopicId, text: string): void {
    this.refuse(topicId, undefined);
    this.put([...this.list, { key: newKey(), channelId, topicId, text: text.trim(), status: "sending", said: "" }]);
    this.pump();
  }

  /** Does not wait any longer. */
  now(key: string): void {
    this.change(key, (each) => (each.status === "refused" ? { ...each, status: "sending" } : each));
    this.waits.get(key)?.();
    this.tries.delete(key);
    this.ship(key);
  }

  /** Takes it back to be another message of the topic that shows it, which need not be its own. */
  edit(key: string, into: TopicId): void {
    const each = this.find(key);
    if (!each) return;
    this.discard(key);
    this.written.putBefore(messageDraft(into), each.text);
  }

  discard(key: string): void {
    this.waits.get(key)?.();
    this.tries.delete(key);
    this.put(this.list.filter((each) => each.key !== key));
    this.pump();
  }

  private find(key: string): Sent | undefined {
    return this.list.find((each) => each.key === key);
  }

  private place(each: Sent): TopicId {
    return topicNow(untrack(this.store.state), each.topicId);
  }

  private put(list: readonly Sent[]): void {
    this.list = list;
    this.store.setDraft(DRAFT, list.length === 0 ? "" : JSON.stringify(list));
    this.shown[1](list);
  }

  private change(key: string, change: (each: Sent) => Sent): void {
    this.put(this.list.map((each) => (each.key === key ? change(each) : each)));
  }

  private refuse(topicId: TopicId, said: string | undefined): void {
    this.refusals[1]((before) => {
      const after = new Map(before);
      if (said === undefined) after.delete(topicId);
      else after.set(topicId, said);
      return after;
    });
  }

  private connected(isLive: boolean): void {
    this.isLive = isLive;
    this.tries.clear();
    for (const stop of [...this.waits.values()]) stop();
    this.pump();
  }

  private follow(state: State): void {
    this.written.follow(state);
    if (this.list.some((each) => topicNow(state, each.topicId) !== each.topicId)) this.put(this.list.map((each) => ({ ...each, topicId: topicNow(state, each.topicId) })));
  }

  /** Sees to the first message of each topic; the others wait for it, so that they keep their order. */
  private pump(): void {
    const seen = new Set<TopicId>();
    for (const each of this.list) {
      const topicId = this.place(each);
      if (each.status === "refused" || seen.has(topicId)) continue;
      seen.add(topicId);
      if (each.status === "sending") this.ship(each.key);
      else this.wait(each.key);
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
    const ended = (end: () => void) => {
      if (this.isOver) return;
      this.onItsWay.delete(key);
      end();
      this.pump();
    };
    this.store.post(each.channelId, { kind: "id", id: this.place(each) }, [{ kind: "text", text: each.text }], key).then(
      () => ended(() => this.discard(key)),
      (error: unknown) => ended(() => this.failed(key, error)),
    );
  }

  private failed(key: string, error: unknown): void {
    const each = this.find(key);
    if (!each) return;
    const said = errorText(error);
    // Being signed out says nothing of an earlier try that may have been kept.
    const isSignedOut = error instanceof Failure && error.kind === "signed_out";
    const isUnknown = isUncertain(error) || (isSignedOut && each.status === "unknown");
    if (isUnknown) {
      this.change(key, (now) => ({ ...now, status: "unknown", said }));
      return;
    }
    const [topicId, isFirst] = [this.place(each), each.status === "sending"];
    // What is written for a topic that is gone, nobody sees.
    const isFree = untrack(this.store.state).topics.has(topicId) && this.store.draft(messageDraft(topicId)) === "";
    if (isFirst && isFree) {
      this.discard(key);
      this.written.write(messageDraft(topicId), each.text);
      this.refuse(topicId, said);
    } else this.change(key, (now) => ({ ...now, status: "refused", said }));
  }
}

/** What a page that is gone left behind: nobody knows what became of what was on its way. */
const restored = (draft: string): readonly Sent[] => {
  if (draft === "") return [];
  const stored = parsed(draft);
  return Array.isArray(stored) ? stored.flatMap((each: unknown) => sentOf(each) ?? []) : [];
};

const sentOf = (value: unknown): Sent | undefined => {
  if (!isRecord(value)) return undefined;
  const { key, channelId, topicId, text, status, said } = value;
  if (!isText(key) || !isText(channelId) || !isText(topicId) || !isText(text)) return undefined;
  return { key, channelId, topicId, text, status: status === "refused" ? "refused" : "unknown", said: isText(said) ? said : "" };
};
