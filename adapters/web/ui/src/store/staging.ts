/** Staged answers of one person in one tab: recorded, sent once, kept over a reload. The rules are in `asks.ts`. */
import { Failure } from "../model/client";
import type { Client } from "../model/client";
import type { Ask, AskId, Message, MessageId } from "../model/types";
import * as rules from "./asks";
import type { AskActions, ErrorFunnel, Staged, StagedAnswer, State } from "./contract";
import { isRecord, isText, isTexts } from "./kept";
import type { Json, Kept } from "./kept";

export interface StagingDeps {
  readonly client: Pick<Client, "respond">;
  readonly state: () => State;
  readonly publish: (staged: ReadonlyMap<AskId, Staged>) => void;
  readonly report: ErrorFunnel;
  /** What a person had staged or sent counts for nothing: the ask closed in another way. `now` is undefined if it is not shown any more. */
  readonly lost: (ask: Ask, now: Ask | undefined) => void;
  readonly kept: Kept;
}

type Answers = ReadonlyMap<string, StagedAnswer>;

export class Staging implements AskActions {
  private staged: ReadonlyMap<AskId, Staged> = new Map();
  /** The version each ask was seen in when it was staged or last pushed. */
  private readonly seen = new Map<AskId, Ask | undefined>();
  private readonly onItsWay = new Map<AskId, rules.Shipped>();
  /** What the reloaded page found and no snapshot has confirmed yet. */
  private stored: ReadonlyMap<AskId, Answers>;

  constructor(private readonly deps: StagingDeps) {
    this.stored = fromJson(deps.kept.read());
  }

  pick(messageId: MessageId, askId: AskId, questionId: string, optionId: string): void {
    this.record(messageId, askId, (ask, staged) => rules.picked(ask, staged, questionId, optionId));
  }
  type(messageId: MessageId, askId: AskId, questionId: string, text: string): void {
    this.record(messageId, askId, (ask, staged) => rules.typed(ask, staged, questionId, text));
  }
  clear(messageId: MessageId, askId: AskId, questionId: string): void {
    this.record(messageId, askId, (ask, staged) => rules.cleared(ask, staged, questionId));
  }

  submit(messageId: MessageId, askId: AskId): void {
    const ask = findAsk(this.deps.state(), messageId, askId);
    const staged = this.staged.get(askId);
    const answers = ask && rules.payload(ask, staged);
    if (!ask || !staged || !answers) return;
    this.onItsWay.set(askId, { ask, staged });
    this.seen.set(askId, ask);
    this.put(askId, rules.submitted(staged));
    this.deps.client.respond(askId, answers).then(
      () => {
        this.onItsWay.delete(askId);
        this.reconcile();
      },
      (error: unknown) => this.refused(messageId, { ask, staged }, error),
    );
  }

  /** Brings everything staged in line with the state; to be called whenever that may have changed. */
  reconcile(): void {
    const state = this.deps.state();
    if (!state.ready) return;
    if (this.stored.size > 0) this.restore(state);
    for (const [askId, staged] of this.staged) {
      const before = this.seen.get(askId);
      const now = currentAsk(state, askId);
      const isOnItsWay = this.onItsWay.has(askId);
      const after = rules.afterPush(before, now, staged, isOnItsWay);
      this.seen.set(askId, now);
      // Accepted, and the ask is closed or gone: the answer is the server's now.
      const isDone = staged.submitted && !isOnItsWay && (now === undefined || !rules.isOpen(now));
      if (isDone || after !== staged) this.put(askId, isDone ? undefined : after);
      const isDropped = after === undefined && !staged.submitted && staged.answers.size > 0 && (now === undefined || !rules.isOpen(now));
      if (isDropped && before) this.deps.lost(before, now);
    }
  }

  private record(messageId: MessageId, askId: AskId, rule: (ask: Ask, staged: Staged | undefined) => Staged | undefined): void {
    const ask = findAsk(this.deps.state(), messageId, askId);
    if (!ask) return;
    const before = this.staged.get(askId);
    const after = rule(ask, before);
    if (after === before) return;
    if (!before) this.seen.set(askId, ask);
    this.put(askId, after);
  }

  private refused(messageId: MessageId, shipped: rules.Shipped, error: unknown): void {
    const askId = shipped.ask.id;
    this.onItsWay.delete(askId);
    const now = findAsk(this.deps.state(), messageId, askId);
    this.seen.set(askId, now);
    const text = error instanceof Error ? error.message : String(error);
    this.put(askId, rules.afterRefusal(shipped, now, this.staged.get(askId), text));
    this.deps.report("ask", error);
    // Closed by somebody else meanwhile; in the inbox the block is gone, and with it its own error.
    const isMine = now?.end.kind === "answered" && now.end.by === this.deps.state().me;
    if (error instanceof Failure && error.kind === "already" && !isMine && (now === undefined || !rules.isOpen(now))) this.deps.lost(shipped.ask, now);
    this.reconcile();
  }

  private restore(state: State): void {
    for (const [askId, answers] of this.stored) {
      const ask = currentAsk(state, askId);
      const staged = ask && !this.staged.has(askId) ? rules.restored(ask, answers) : undefined;
      if (!staged) continue;
      this.seen.set(askId, ask);
      this.put(askId, staged);
    }
    this.stored = new Map();
    this.deps.kept.write(toJson(this.staged));
  }

  private put(askId: AskId, staged: Staged | undefined): void {
    const next = new Map(this.staged);
    const isEmpty = staged === undefined || (staged.answers.size === 0 && !staged.submitted && staged.error === undefined);
    if (isEmpty) {
      next.delete(askId);
      this.seen.delete(askId);
    } else next.set(askId, staged);
    this.staged = next;
    this.deps.kept.write(toJson(next));
    this.deps.publish(next);
  }
}

const inMessage = (message: Message | undefined, askId: AskId): Ask | undefined => {
  for (const block of message?.blocks ?? []) if (block.kind === "ask" && block.ask.id === askId) return block.ask;
  return undefined;
};

/** The ask as the page shows it; undefined for ids that do not belong together. */
export const findAsk = (state: State, messageId: MessageId, askId: AskId): Ask | undefined => {
  for (const window of state.windows.values()) {
    const found = inMessage(window.messages.find((message) => message.id === messageId), askId);
    if (found) return found;
  }
  const entry = state.openAsks.get(askId);
  return entry?.message.id === messageId ? inMessage(entry.message, askId) : undefined;
};

/** The same without knowing its message. Open asks are in the inbox; only one that is not there has to be looked for. */
const currentAsk = (state: State, askId: AskId): Ask | undefined => {
  const waiting = inMessage(state.openAsks.get(askId)?.message, askId);
  if (waiting) return waiting;
  for (const window of state.windows.values())
    for (const message of window.messages) {
      const found = inMessage(message, askId);
      if (found) return found;
    }
  return undefined;
};

const toJson = (staged: ReadonlyMap<AskId, Staged>): Json | undefined => {
  const asks = [...staged].flatMap(([askId, { answers }]): [string, Json][] =>
    answers.size === 0 ? [] : [[askId, Object.fromEntries([...answers].map(([id, { chosen, text }]): [string, Json] => [id, { chosen, text }]))]],
  );
  return asks.length === 0 ? undefined : Object.fromEntries(asks);
};

const fromJson = (value: unknown): ReadonlyMap<AskId, Answers> => {
  const asks = new Map<AskId, Answers>();
  if (!isRecord(value)) return asks;
  for (const [askId, stored] of Object.entries(value)) {
    if (!isRecord(stored)) continue;
    const answers = new Map<string, StagedAnswer>();
    for (const [questionId, answer] of Object.entries(stored)) {
      if (!isRecord(answer)) continue;
      const { chosen, text } = answer;
      if (isTexts(chosen) && isText(text)) answers.set(questionId, { chosen, text });
    }
    asks.set(askId, answers);
  }
  return asks;
};

/** The server's own words for a failure, or what a program said about itself. */
export const failureText = (error: unknown): string => (error instanceof Failure || error instanceof Error ? error.message : String(error));
