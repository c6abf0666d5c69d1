/** What views and components are given. `store/store.ts` builds it; tests build it over the fake client. */
import type { Client } from "../model/client";
import type {
  Account, AccountId, AskId, Channel, ChannelId, Group, Message, MessageId, NewBlock, OpenAskEntry, Presence,
  ReadPosition, SessionId, Topic, TopicId, TopicSelector,
} from "../model/types";
import type { Drafts } from "./drafts";
import type { Outbox } from "./outbox";

/** The loaded part of a topic: newest first read, sorted by `seq` ascending. */
export interface MessageWindow {
  readonly messages: readonly Message[];
  /** False until the newest page is here: what was told meanwhile may stand above messages that nobody has read yet. */
  readonly gapless: boolean;
  /** True once nothing older is left to load. */
  readonly complete: boolean;
  readonly loading: "none" | "newest" | "older";
  /** What to show if the last read failed. */
  readonly error: string | undefined;
}

/** What a person has picked and typed and not yet sent, by question id. */
export interface StagedAnswer {
  readonly chosen: readonly string[];
  readonly text: string;
}
export interface Staged {
  readonly answers: ReadonlyMap<string, StagedAnswer>;
  /** The submit is on its way, or done and its event not here yet. */
  readonly submitted: boolean;
  readonly error: string | undefined;
}

/** What a person had picked and typed for an ask that ended without taking it. */
export interface Unsent {
  readonly answers: ReadonlyMap<string, StagedAnswer>;
  /** What the server said when it refused them; undefined if they were never sent. */
  readonly refused: string | undefined;
}

export type Connection =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** `since` is when it was lost (client clock, ms); `retryAt` when the next try starts. */
  | { readonly kind: "lost"; readonly since: number; readonly retryAt: number }
  | { readonly kind: "signed_out" };

/** Immutable; every change makes a new one that shares what did not change. */
export interface State {
  readonly me: AccountId;
  readonly accounts: ReadonlyMap<AccountId, Account>;
  readonly groups: ReadonlyMap<string, Group>;
  readonly channels: ReadonlyMap<ChannelId, Channel>;
  readonly topics: ReadonlyMap<TopicId, Topic>;
  readonly presence: ReadonlyMap<AccountId, Presence>;
  readonly windows: ReadonlyMap<TopicId, MessageWindow>;
  /** Open asks by ask id. */
  readonly openAsks: ReadonlyMap<AskId, OpenAskEntry>;
  /** Asks that ended while the page followed, the latest last, by ask id; only so many are kept. */
  readonly endedAsks: ReadonlyMap<AskId, OpenAskEntry>;
  readonly positions: ReadonlyMap<TopicId, ReadPosition>;
  /** Which topic has the messages of one that was joined to another, after however many merges; read it with `topicNow`. */
  readonly merged: ReadonlyMap<TopicId, TopicId>;
  /** How far each channel is known: the highest `seq` that was told, or counted by a read. For the reducer. */
  readonly reach: ReadonlyMap<ChannelId, number>;
  /** False until the first snapshot has been read. */
  readonly ready: boolean;
}

/** Says what went wrong in the background. The one funnel: stream, asks, posts, stops. */
export type ErrorFunnel = (where: string, error: unknown) => void;

export interface AskActions {
  /** Single: the first pick wins and locks the question. Multiple: toggles. */
  pick(messageId: MessageId, askId: AskId, questionId: string, optionId: string): void;
  type(messageId: MessageId, askId: AskId, questionId: string, text: string): void;
  /**
   * Takes a single question's pick back, so that another can be made before sending. Nothing else unlocks the
   * question: a second pick and typing stay without effect until then.
   */
  clear(messageId: MessageId, askId: AskId, questionId: string): void;
  submit(messageId: MessageId, askId: AskId): void;
  /** The person has seen what became of an ask: forgets what of theirs was not taken. */
  dismiss(askId: AskId): void;
}

export interface Store {
  /** Reactive. */
  readonly state: () => State;
  readonly connection: () => Connection;
  readonly staged: () => ReadonlyMap<AskId, Staged>;
  /** By the asks that ended without taking it; stays until it is dismissed. */
  readonly unsent: () => ReadonlyMap<AskId, Unsent>;
  /** The server's time in ms, as well as the page knows it; moves on every 15 s. */
  readonly now: () => number;
  /** Set once the server says another version than the page was loaded with. */
  readonly newVersion: () => string | undefined;
  /** Things that went wrong in the background, newest last, at most 5; dismissed by the person. */
  readonly problems: () => readonly { readonly id: number; readonly text: string }[];
  dismissProblem(id: number): void;

  readonly client: Client;
  readonly asks: AskActions;
  /** Reads the newest 50 of a topic unless they are loaded. Safe to call again. */
  openTopic(channelId: ChannelId, topicId: TopicId): void;
  loadOlder(topicId: TopicId): void;
  markRead(topicId: TopicId, seq: number): void;
  /**
   * Inserts nothing: the stream's echo shows it. Rejects with a `Failure`. What is posted again under the same
   * key is stored once, whatever became of it before.
   */
  post(channelId: ChannelId, topic: TopicSelector, blocks: readonly NewBlock[], key: string): Promise<Message>;
  /** The one funnel for what goes wrong in the background; it fills `problems`. */
  readonly report: ErrorFunnel;
  /** Starts a session of an agent. Rejects with a `Failure`. */
  startAgent(agentId: AccountId): Promise<SessionId>;
  /** Stops an agent's session; never rejects. A refusal stays in `refusals` until the next attempt. */
  stopSession(sessionId: SessionId): Promise<void>;
  readonly refusals: () => ReadonlyMap<SessionId, string>;
  /** What was sent and is not known to be stored. */
  readonly outbox: Outbox;
  /** Of this browser tab: they survive a reload, not the tab. */
  readonly drafts: Drafts;
  /** Removes what this tab keeps of the person, and keeps nothing from here on. */
  forget(): void;
  /** Tries to connect now instead of at `retryAt`. */
  reconnect(): void;
  dispose(): void;
}
