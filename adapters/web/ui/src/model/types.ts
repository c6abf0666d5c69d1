/** What the page knows, in its own words. No type of the wire gets past `wire/`. */

export type AccountId = string;
export type ChannelId = string;
export type GroupId = string;
export type TopicId = string;
export type MessageId = string;
export type AskId = string;
export type SessionId = string;

interface AccountBase {
  readonly id: AccountId;
  readonly handle: string;
  readonly displayName: string;
}
export interface User extends AccountBase {
  readonly kind: "user";
  readonly admin: boolean;
}
export interface Agent extends AccountBase {
  readonly kind: "agent";
  readonly ownerId: AccountId;
  readonly homeChannelId: ChannelId | undefined;
  readonly parentId: AccountId | undefined;
}
export interface System extends AccountBase {
  readonly kind: "system";
}
export type Account = User | Agent | System;

export interface Group {
  readonly id: GroupId;
  readonly name: string;
  readonly parentId: GroupId | undefined;
  readonly ownerId: AccountId;
  readonly shared: boolean;
}

export interface Pin {
  readonly messageId: MessageId;
  readonly position: number;
  readonly pinnedAt: number;
  readonly pinnedBy: AccountId;
}

export interface Channel {
  readonly id: ChannelId;
  readonly name: string;
  readonly groupId: GroupId | undefined;
  readonly kind: "channel" | "dm" | "group_dm";
  readonly memberIds: readonly AccountId[];
  readonly subscriberIds: readonly AccountId[];
  readonly ownerOnly: boolean;
  readonly ownerId: AccountId | undefined;
  readonly mandatory: boolean;
  readonly pins: readonly Pin[];
  /** Set for a tree channel: the agent whose subtree takes part. */
  readonly anchorId: AccountId | undefined;
}

export interface Topic {
  readonly id: TopicId;
  readonly channelId: ChannelId;
  readonly name: string;
  readonly createdAt: number;
  readonly createdBy: AccountId;
  readonly archived: boolean;
  readonly messageCount: number;
  readonly lastActivity: number;
  readonly participantIds: readonly AccountId[];
  readonly openAsks: number;
  readonly braked: boolean;
  /** Highest `seq` of its messages when the counters were read; what is above is not counted in them. */
  readonly lastSeq: number;
}

export interface AskOption {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly preview: string;
}

export interface AskQuestion {
  readonly id: string;
  readonly question: string;
  readonly header: string;
  readonly options: readonly AskOption[];
  readonly multiple: boolean;
  /** Only if it is a valid index of `options`. */
  readonly recommended: number | undefined;
  /** The recorded answer; empty while the ask is open. */
  readonly chosen: readonly string[];
  readonly customText: string;
}

export type AskEnd =
  | { readonly kind: "open" }
  | { readonly kind: "answered"; readonly by: AccountId; readonly at: number }
  | { readonly kind: "cancelled"; readonly at: number };

export interface Ask {
  readonly id: AskId;
  readonly questions: readonly AskQuestion[];
  readonly end: AskEnd;
}

export type Block =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "ask"; readonly ask: Ask }
  | { readonly kind: "answer"; readonly ask: Ask; readonly askerId: AccountId }
  | { readonly kind: "unknown" };

export interface Message {
  readonly id: MessageId;
  readonly topicId: TopicId;
  readonly authorId: AccountId;
  readonly at: number;
  readonly blocks: readonly Block[];
  /** Place within the channel; what messages are sorted by. */
  readonly seq: number;
}

/** What a dot says. A number the page does not know is an error, never a wrong dot. */
export type PresenceState = "idle" | "working" | "waiting" | "stopped";

export interface Presence {
  readonly state: PresenceState;
  readonly activity: string;
  readonly activityAt: number;
}

/** A message that holds an open ask, and where it is. */
export interface OpenAskEntry {
  readonly message: Message;
  readonly channelId: ChannelId;
}

export interface ReadPosition {
  readonly topicId: TopicId;
  readonly seq: number;
  readonly unread: number;
  /** The topic's highest `seq` when `unread` was counted; what is above is not in it. */
  readonly countedTo: number;
}

/** Where reads of one snapshot end. Only goes into reads; never mixed with a `TailCursor`. */
export interface SnapshotToken {
  readonly kind: "snapshot";
  readonly value: bigint;
}

/** How far a stream has come. Only goes into subscribing. */
export interface TailCursor {
  readonly kind: "tail";
  readonly seq: bigint;
  readonly epoch: bigint;
}

/** What one frame of the stream tells. */
export type StreamEvent =
  | { readonly kind: "boundary" }
  | { readonly kind: "message_posted"; readonly message: Message }
  | { readonly kind: "message_updated"; readonly message: Message }
  | { readonly kind: "channel_changed"; readonly channel: Channel; readonly removedIds: readonly AccountId[] }
  | { readonly kind: "group_changed"; readonly group: Group }
  | { readonly kind: "account_changed"; readonly account: Account }
  | { readonly kind: "topic_upserted"; readonly topic: Topic }
  | { readonly kind: "topic_merged"; readonly fromId: TopicId; readonly into: Topic }
  | { readonly kind: "presence_changed"; readonly agentId: AccountId; readonly state: PresenceState | undefined; readonly activity: string }
  | { readonly kind: "read_position_changed"; readonly position: ReadPosition }
  | { readonly kind: "resync_required" }
  /** A payload the page does not know, or one without a body. */
  | { readonly kind: "other" };

export interface StreamFrame {
  /** Undefined on frames without a position. */
  readonly cursor: TailCursor | undefined;
  readonly snapshot: SnapshotToken | undefined;
  readonly at: number;
  readonly event: StreamEvent;
}

/** An answer as it is sent: exactly one per question, in the ask's order. */
export interface QuestionAnswer {
  readonly questionId: string;
  readonly chosen: readonly string[];
  readonly customText: string;
}

/** What a person posts as an ask. */
export interface AskDraft {
  readonly questions: readonly {
    readonly id: string;
    readonly question: string;
    readonly header: string;
    readonly options: readonly AskOption[];
    readonly multiple: boolean;
    readonly recommended: number | undefined;
  }[];
}
export type NewBlock = { readonly kind: "text"; readonly text: string } | { readonly kind: "ask"; readonly ask: AskDraft };

export type TopicSelector = { readonly kind: "id"; readonly id: TopicId } | { readonly kind: "name"; readonly name: string };

export interface TokenInfo {
  readonly id: string;
  readonly createdAt: number;
  /** Undefined if it never ends. */
  readonly expiresAt: number | undefined;
}

export interface AgentSession {
  readonly sessionId: SessionId;
  readonly state: "unspecified" | "starting" | "ready" | "working" | "stopped" | "errored" | "disconnected";
  readonly agentId: AccountId;
}

export type SessionEvent =
  | { readonly kind: "text" | "thinking"; readonly id: string; readonly at: number; readonly groupId: string; readonly text: string }
  | { readonly kind: "tool_call"; readonly id: string; readonly at: number; readonly callId: string; readonly title: string; readonly status: ToolStatus }
  | { readonly kind: "tool_update"; readonly id: string; readonly at: number; readonly callId: string; readonly status: ToolStatus; readonly output: string; readonly paths: readonly string[] }
  | { readonly kind: "plan"; readonly id: string; readonly at: number; readonly entries: readonly { readonly content: string; readonly status: ToolStatus }[] }
  | { readonly kind: "notice"; readonly id: string; readonly at: number; readonly text: string; readonly link: string | undefined };
export type ToolStatus = "unspecified" | "pending" | "in_progress" | "completed" | "failed";

export interface SessionFrame {
  readonly sessionId: SessionId;
  readonly event: SessionEvent | undefined;
  readonly state: AgentSession["state"];
}
