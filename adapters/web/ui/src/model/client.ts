/** The one way to the server. `wire/` implements it over gRPC-Web, `testing/` for tests. */
import type {
  Account, AccountId, AgentSession, AskId, Channel, ChannelId, Group, Message, MessageId, NewBlock, OpenAskEntry,
  Presence, QuestionAnswer, ReadPosition, SessionFrame, SessionId, SnapshotToken, StreamFrame, TailCursor, TokenInfo, Topic,
  TopicId, TopicSelector,
} from "./types";

/** What can be done about a failed call. */
export type FailureKind =
  | "signed_out" | "not_allowed" | "not_found" | "invalid" | "already" | "precondition" | "unavailable" | "unknown" | "aborted" | "internal";

/** Every method rejects with this and nothing else. `message` is the server's own text where there is one. */
export class Failure extends Error {
  constructor(readonly kind: FailureKind, message: string) {
    super(message);
    this.name = "Failure";
  }
}

/** Whether the server may have done what a call asked for that failed so. Only a refusal of its own says that it did not. */
const MAY_BE_DONE: Readonly<Record<FailureKind, boolean>> = {
  signed_out: false, not_allowed: false, not_found: false, invalid: false, already: false, precondition: false,
  // A fault may come after it was done, and a proxy on the way knows nothing of it.
  unavailable: true, unknown: true, aborted: true, internal: true,
};

/** True unless it is known that nothing was done. */
export const isUncertain = (error: unknown): boolean => !(error instanceof Failure) || MAY_BE_DONE[error.kind];

/** True if nobody, the server included, said what became of it. */
export const isOutcomeUnknown = (error: unknown): boolean => error instanceof Failure && error.kind === "unknown";

export interface ChannelTopics {
  readonly topics: readonly Topic[];
  readonly positions: readonly ReadPosition[];
  /** Topics that were joined to one of these, and to which. */
  readonly moved: ReadonlyMap<TopicId, TopicId>;
}

export interface Client {
  serverInfo(signal?: AbortSignal): Promise<{ readonly version: string; readonly apiVersion: string }>;
  whoAmI(signal?: AbortSignal): Promise<AccountId>;
  /** Ends when the signal aborts or the server closes; rejects on a failure. */
  subscribe(since: TailCursor | undefined, signal: AbortSignal): AsyncIterable<StreamFrame>;

  listAccounts(snapshot: SnapshotToken, signal?: AbortSignal): Promise<readonly Account[]>;
  listGroups(snapshot: SnapshotToken, signal?: AbortSignal): Promise<readonly Group[]>;
  listChannels(snapshot: SnapshotToken, signal?: AbortSignal): Promise<readonly Channel[]>;
  /** Presence of every agent the caller sees. */
  roster(signal?: AbortSignal): Promise<ReadonlyMap<AccountId, Presence>>;
  /** Of these channels, archived ones too. One that the person takes no part in has none. */
  listTopics(channelIds: readonly ChannelId[], signal?: AbortSignal): Promise<ChannelTopics>;
  /** One page, newest first; of every channel where `channelId` is undefined. */
  listOpenAsks(input: { readonly before: MessageId | undefined; readonly channelId: ChannelId | undefined }, signal?: AbortSignal): Promise<readonly OpenAskEntry[]>;
  readPositions(signal?: AbortSignal): Promise<readonly ReadPosition[]>;
  /** One page, newest first; `snapshot` undefined reads what is there now. */
  listMessages(input: { readonly channelId: ChannelId; readonly topicId: TopicId; readonly before: MessageId | undefined; readonly limit: number; readonly snapshot: SnapshotToken | undefined }, signal?: AbortSignal): Promise<readonly Message[]>;
  /** What is pinned in the channel, in the board's order. */
  listPinned(channelId: ChannelId): Promise<readonly Message[]>;
  search(query: string, channelId: ChannelId | undefined, signal?: AbortSignal): Promise<readonly Message[]>;

  post(input: { readonly channelId: ChannelId; readonly topic: TopicSelector; readonly blocks: readonly NewBlock[]; readonly requestId: string }): Promise<Message>;
  respond(askId: AskId, answers: readonly QuestionAnswer[]): Promise<void>;
  markRead(topicId: TopicId, seq: number): Promise<ReadPosition>;
  updateTopic(topicId: TopicId, change: { readonly name?: string; readonly archived?: boolean }): Promise<Topic>;
  createChannel(input: { readonly name: string; readonly groupId: string | undefined; readonly memberHandles: readonly string[] }): Promise<Channel>;
  createGroup(input: { readonly name: string; readonly shared: boolean }): Promise<Group>;
  updateMembers(channelId: ChannelId, change: { readonly add?: readonly AccountId[]; readonly remove?: readonly AccountId[]; readonly subscribe?: readonly AccountId[]; readonly unsubscribe?: readonly AccountId[]; readonly newName?: string }): Promise<Channel>;
  setPolicy(channelId: ChannelId, policy: { readonly ownerOnly: boolean; readonly ownerId: AccountId | undefined; readonly mandatory: boolean }): Promise<Channel>;
  joinChannel(channelId: ChannelId): Promise<Channel>;
  openDm(accountId: AccountId): Promise<Channel>;
  pin(channelId: ChannelId, messageId: MessageId): Promise<Channel>;
  unpin(channelId: ChannelId, messageId: MessageId): Promise<Channel>;

  createUser(handle: string, displayName: string): Promise<Account>;
  createAgent(handle: string, displayName: string): Promise<Account>;
  /** Works once; for administrators. */
  createSignIn(accountId: AccountId): Promise<string>;
  issueToken(accountId: AccountId): Promise<string>;
  listTokens(accountId: AccountId): Promise<readonly TokenInfo[]>;
  revokeToken(tokenId: string): Promise<void>;

  sessions(): Promise<readonly AgentSession[]>;
  startAgent(accountId: AccountId, requestId: string): Promise<SessionId>;
  stopSession(sessionId: SessionId): Promise<void>;
  watchSession(sessionId: SessionId, signal: AbortSignal): AsyncIterable<SessionFrame>;
}

/** The page's own session with the server: a cookie that scripts cannot read. */
export interface PageSession {
  /** Spends a one-time secret or trades a person's token. Rejects with a `Failure` whose message is for people. */
  signIn(by: { readonly secret: string } | { readonly token: string }): Promise<void>;
  signOut(): Promise<void>;
  /** True if this browser has a session that goes on. Rejects with a `Failure` if the server does not say. */
  isOpen(signal?: AbortSignal): Promise<boolean>;
}
