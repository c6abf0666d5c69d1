/** Staged answers of one person in one tab: recorded, sent once, kept over a reload. The rules are in `asks.ts`. */
import { isOutcomeUnknown, isUncertain } from "../model/client";
import type { Client } from "../model/client";
import { askById } from "../model/select";
import { errorText } from "../model/text";
import type { Ask, AskId, ChannelId, MessageId } from "../model/types";
import { askText } from "../strings";
import * as rules from "./asks";
import type { AskActions, ErrorFunnel, Staged, StagedAnswer, State, Unsent } from "./contract";
import { isRecord, isText, isTexts } from "./kept";
import type { Json, Kept } from "./kept";

export interface StagingDeps {
  readonly client: Pick<Client, "respond" | "listOpenAsks">;
  readonly state: () => State;
  readonly publish: (staged: ReadonlyMap<AskId, Staged>) => void;
  /** Publishes what was left behind by asks that ended without it. */
  readonly leave: (unsent: ReadonlyMap<AskId, Unsent>) => void;
  readonly report: ErrorFunnel;
  readonly kept: Kept;
}

type Answers = ReadonlyMap<string, StagedAnswer>;

export class Staging implements AskActions {
  private staged: ReadonlyMap<AskId, Staged> = new Map();
  private unsent: ReadonlyMap<AskId, Unsent> = new Map();
  /** The version each ask was seen in when it was staged or last pushed. */
  private readonly seen = new Map<AskId, Ask | undefined>();
  private readonly onItsWay = new Map<AskId, rules.Shipped>();
  /** Answers that may have been kept; another mark for each time one was sent. */
  private readonly unsure = new Map<AskId, symbol>();
  private isAsking = false;
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
    this.unsure.delete(askId);
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

  dismiss(askId: AskId): void {
    this.leave(askId, undefined);
    const ask = askById(this.deps.state(), askId)?.ask;
    if (!this.onItsWay.has(askId) && (ask === undefined || !rules.isOpen(ask))) this.put(askId, undefined);
  }

  /** Brings everything staged in line with the state; to be called whenever that may have changed. */
  reconcile(): void {
    const state = this.deps.state();
    if (!state.ready) return;
    if (this.stored.size > 0) this.restore(state);
    for (const [askId, staged] of this.staged) {
      const before = this.seen.get(askId);
      const now = askById(state, askId)?.ask;
      const isOnItsWay = this.onItsWay.has(askId);
      const after = rules.afterPush(before, now, staged, isOnItsWay);
      this.seen.set(askId, now);
      if (after === undefined && !staged.submitted) this.leave(askId, rules.leftBehind(now, staged.answers, staged.error, state.me));
      // Accepted, and the ask is closed or gone: the answer is the server's now.
      const isDone = staged.submitted && !isOnItsWay && (now === undefined || !rules.isOpen(now));
      if (isDone || after !== staged) this.put(askId, isDone ? undefined : after);
    }
    for (const [askId, unsent] of this.unsent) {
      const now = askById(state, askId)?.ask;
      if (!now || rules.leftBehind(now, unsent.answers, unsent.refused, state.me)) continue;
      this.leave(askId, undefined);
      this.comeBack(now, unsent);
    }
  }

  /** Asks what became of answers that may have been kept: an open ask kept none. To be called while the connection stands, in vain too. */
  async settle(): Promise<void> {
    const unsure = [...this.unsure].flatMap(([askId, mark]) => {
      const entry = this.deps.state().openAsks.get(askId);
      return entry ? [{ askId, mark, channelId: entry.channelId, seq: entry.message.seq }] : [];
    });
    if (this.isAsking || unsure.length === 0) return;
    this.isAsking = true;
    try {
      for (const [channelId, doubts] of Map.groupBy(unsure, (each) => each.channelId)) {
        const open = await this.openDownTo(channelId, Math.min(...doubts.map((each) => each.seq)));
        for (const { askId, mark } of doubts) if (open.has(askId) && this.unsure.get(askId) === mark) this.notKept(askId);
      }
    } catch (error) {
      this.deps.report("ask", error);
    } finally {
      this.isAsking = false;
    }
  }

  /** What is open in the channel now, not further back than `seq`. */
  private async openDownTo(channelId: ChannelId, seq: number): Promise<ReadonlySet<AskId>> {
    const open = new Set<AskId>();
    for (let before: MessageId | undefined; ; ) {
      const page = await this.deps.client.listOpenAsks({ before, channelId });
      const last = page.at(-1)?.message;
      for (const { message } of page) for (const block of message.blocks) if (block.kind === "ask" && rules.isOpen(block.ask)) open.add(block.ask.id);
      if (last === undefined || last.seq <= seq) return open;
      before = last.id;
    }
  }

  private notKept(askId: AskId): void {
    this.unsure.delete(askId);
    const [staged, ask] = [this.staged.get(askId), askById(this.deps.state(), askId)?.ask];
    if (staged?.error !== undefined && ask && rules.isOpen(ask)) this.put(askId, { ...staged, error: askText.notKept });
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
    if (isUncertain(error)) this.unsure.set(askId, Symbol(askId));
    const now = findAsk(this.deps.state(), messageId, askId);
    this.seen.set(askId, now);
    const text = errorText(error);
    // Without a word of the server's, that the answer stands there says all.
    const isKnown = isOutcomeUnknown(error) && now !== undefined && rules.isRecorded(now, shipped.staged.answers, this.deps.state().me);
    this.put(askId, rules.afterRefusal(shipped, now, this.staged.get(askId), isKnown ? undefined : text));
    this.leave(askId, rules.leftBehind(now, shipped.staged.answers, text, this.deps.state().me));
    this.deps.report("ask", error);
    this.reconcile();
  }

  /** The ask was gone with its channel, and is there again as it was. */
  private comeBack(ask: Ask, { answers, refused }: Unsent): void {
    const staged = this.staged.has(ask.id) ? undefined : rules.restored(ask, answers);
    if (!staged) return;
    this.seen.set(ask.id, ask);
    this.put(ask.id, { ...staged, error: refused });
  }

  private restore(state: State): void {
    for (const [askId, answers] of this.stored) {
      const ask = askById(state, askId)?.ask;
      const staged = ask && !this.staged.has(askId) ? rules.restored(ask, answers) : undefined;
      if (!staged) continue;
      this.seen.set(askId, ask);
      this.put(askId, staged);
    }
    this.stored = new Map();
    this.deps.kept.write(toJson(this.staged));
  }

  private leave(askId: AskId, unsent: Unsent | undefined): void {
    if (unsent === undefined && !this.unsent.has(askId)) return;
    const next = new Map(this.unsent);
    if (unsent === undefined) next.delete(askId);
    else next.set(askId, unsent);
    this.unsent = next;
    this.deps.leave(next);
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

/** The ask as the page shows it; undefined for ids that do not belong together. */
export const findAsk = (state: State, messageId: MessageId, askId: AskId): Ask | undefined => {
  for (const window of state.windows.values()) {
    const message = window.messages.find((each) => each.id === messageId);
    for (const block of message?.blocks ?? []) if (block.kind === "ask" && block.ask.id === askId) return block.ask;
  }
  const found = askById(state, askId);
  return found?.message.id === messageId ? found.ask : undefined;
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
