/** A `Client` for tests over a `FakeServer`: it records calls, can hold and fail replies, and its stream can be driven. */
import { Failure } from "../model/client";
import type { Client } from "../model/client";
import type {
  Account, AgentSession, Channel, Message, SessionFrame, SessionId, SnapshotToken, StreamEvent, StreamFrame, TailCursor, TokenInfo,
} from "../model/types";
import { person } from "./builders";
import { FakeServer } from "./server";

export type Method = keyof Client;

export interface Call {
  readonly method: Method;
  readonly input: readonly unknown[];
}

/** A reply that waits: what it says was decided when the call came in. */
export interface Held {
  release(): void;
  fail(failure: Failure): void;
}

/** One subscription, as the server's side of it. */
export class FakeStream implements AsyncIterable<StreamFrame> {
  private readonly waiting: StreamFrame[] = [];
  private over: { readonly failure: Failure | undefined } | undefined;
  private wake: (() => void) | undefined;

  constructor(readonly since: TailCursor | undefined, readonly signal: AbortSignal) {
    signal.addEventListener("abort", () => this.end(undefined), { once: true });
  }

  push(...frames: readonly StreamFrame[]): void {
    this.waiting.push(...frames);
    this.wake?.();
  }
  close(): void {
    this.end(undefined);
  }
  fail(failure: Failure = new Failure("unavailable", "the connection broke")): void {
    this.end(failure);
  }
  get closed(): boolean {
    return this.over !== undefined;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<StreamFrame> {
    for (;;) {
      const next = this.waiting.shift();
      if (next) yield next;
      else if (this.over) {
        if (this.over.failure) throw this.over.failure;
        return;
      } else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  private end(failure: Failure | undefined): void {
    this.over ??= { failure };
    this.wake?.();
  }
}

export interface FakeOptions {
  /** False: the stream carries only what a test pushes or `deliver` hands over. */
  readonly auto?: boolean;
  readonly epoch?: bigint;
}

type Gates = Map<Method, Promise<void>[]>;

/** Puts a gate behind those that the method has. */
const heldBy = (gates: Gates, method: Method): Held => {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  // A held call that never comes must not be an unhandled rejection.
  promise.catch(() => undefined);
  gates.set(method, [...(gates.get(method) ?? []), promise]);
  return { release: () => resolve(undefined), fail: reject };
};

export class FakeClient implements Client {
  readonly calls: Call[] = [];
  readonly streams: FakeStream[] = [];
  version = "1.0.0";
  sessionList: AgentSession[] = [];
  tokens: TokenInfo[] = [];
  epoch: bigint;
  /** How many of the server's events the stream has carried. */
  private carried = 0;
  private readonly auto: boolean;
  private readonly gates: Gates = new Map();
  private readonly ways: Gates = new Map();
  private readonly failures = new Map<Method, Failure[]>();

  constructor(readonly server: FakeServer = new FakeServer(person("ann")), options: FakeOptions = {}) {
    this.auto = options.auto ?? true;
    this.epoch = options.epoch ?? 7n;
    server.onTold(() => {
      if (this.auto) this.deliver();
    });
  }

  /** The newest subscription. */
  get stream(): FakeStream {
    const newest = this.streams.at(-1);
    if (!newest) throw new Error("nothing is subscribed yet");
    return newest;
  }

  called(method: Method): readonly Call[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** Holds the reply of the next call of `method` that is not held yet. */
  hold(method: Method): Held {
    return heldBy(this.gates, method);
  }

  /** Holds the next call of `method` on its way: the server hears of it when it is released, and never if it fails. */
  holdBack(method: Method): Held {
    return heldBy(this.ways, method);
  }

  /** Refuses the next call of `method`; nothing happens on the server. */
  failNext(method: Method, failure: Failure = new Failure("unavailable", "the server is away")): void {
    this.failures.set(method, [...(this.failures.get(method) ?? []), failure]);
  }

  /** Carries up to `count` of the server's events that the newest stream has not carried yet. */
  deliver(count = Number.POSITIVE_INFINITY): number {
    const stream = this.streams.at(-1);
    if (!stream || stream.closed) return 0;
    let sent = 0;
    for (; sent < count && this.carried < this.server.told.length; sent += 1) {
      const telling = this.server.told[this.carried];
      this.carried += 1;
      const event = telling?.();
      if (event && this.server.reaches(event)) stream.push(this.frame(event, this.carried));
    }
    return sent;
  }

  /** A positioned frame with the event. */
  frame(event: StreamEvent, seq: number = this.carried): StreamFrame {
    return { cursor: { kind: "tail", seq: BigInt(seq), epoch: this.epoch }, snapshot: undefined, at: this.server.at, event };
  }

  boundary(value: bigint = this.position()): StreamFrame {
    return { cursor: undefined, snapshot: { kind: "snapshot", value }, at: 0, event: { kind: "boundary" } };
  }

  resync(): StreamFrame {
    return { cursor: undefined, snapshot: undefined, at: 0, event: { kind: "resync_required" } };
  }

  /** Where a snapshot taken now ends; far from any seq of a stream, so that a mixed-up counter is seen. */
  position(): bigint {
    return 1_000_000n + BigInt(this.server.messages.size);
  }

  serverInfo = (signal?: AbortSignal) => this.reply("serverInfo", [], () => ({ version: this.version, apiVersion: "compass.v1" }), signal);
  whoAmI = (signal?: AbortSignal) => this.reply("whoAmI", [], () => this.server.me.id, signal);

  subscribe(since: TailCursor | undefined, signal: AbortSignal): AsyncIterable<StreamFrame> {
    this.calls.push({ method: "subscribe", input: [since] });
    const stream = new FakeStream(since, signal);
    this.streams.push(stream);
    const failure = this.failures.get("subscribe")?.shift();
    if (failure) stream.fail(failure);
    else if (since === undefined) {
      this.carried = 0;
      stream.push(this.boundary());
    } else if (since.epoch !== this.epoch || since.seq > BigInt(this.server.told.length)) {
      stream.push(this.resync());
      stream.close();
    } else this.carried = Number(since.seq);
    if (this.auto) this.deliver();
    return stream;
  }

  listAccounts = (snapshot: SnapshotToken, signal?: AbortSignal) => this.reply("listAccounts", [snapshot], () => [...this.server.accounts.values()], signal);
  listGroups = (snapshot: SnapshotToken, signal?: AbortSignal) => this.reply("listGroups", [snapshot], () => [...this.server.groups.values()], signal);
  listChannels = (snapshot: SnapshotToken, signal?: AbortSignal) => this.reply("listChannels", [snapshot], () => this.visible(), signal);
  roster = (signal?: AbortSignal) => this.reply("roster", [], () => new Map(this.server.presence), signal);
  listTopics: Client["listTopics"] = (channelIds, signal) =>
    this.reply("listTopics", [channelIds], () => {
      const mine = channelIds.filter((id) => this.server.participates(id));
      const topics = mine.flatMap((id) => this.server.topics(id, true));
      return { topics, positions: topics.map((topic) => this.server.position(topic.id)), moved: new Map(mine.flatMap((id) => this.server.moved(id))) };
    }, signal);
  listOpenAsks: Client["listOpenAsks"] = (input, signal) =>
    this.reply("listOpenAsks", [input], () => {
      const all = this.server.openAsks().filter((entry) => input.channelId === undefined || entry.channelId === input.channelId);
      // The ask of the cursor's message may have closed meanwhile; its place still counts.
      const ids = [...this.server.messages.keys()];
      const end = input.before === undefined ? ids.length : ids.indexOf(input.before);
      return all.filter((entry) => ids.indexOf(entry.message.id) < end).slice(0, this.pageSize);
    }, signal);
  /** Entries of a page of open asks; small, so that tests page. */
  pageSize = 50;
  readPositions = (signal?: AbortSignal) => this.reply("readPositions", [], () => this.server.positions(), signal);
  listMessages: Client["listMessages"] = (input, signal) =>
    this.reply("listMessages", [input], () => {
      if (!this.server.participates(input.channelId)) return [];
      const all = [...this.server.inTopic(input.topicId)].sort((a, b) => b.seq - a.seq);
      const from = input.before === undefined ? 0 : all.findIndex((message) => message.id === input.before) + 1;
      if (input.before !== undefined && from === 0) throw new Failure("invalid", "the message to list before is not in this channel");
      return all.slice(from, from + Math.min(input.limit, this.pageSize));
    }, signal);
  listPinned: Client["listPinned"] = (channelId) =>
    this.reply("listPinned", [channelId], () => {
      const pins = this.server.participates(channelId) ? this.channel(channelId).pins : [];
      return [...pins].sort((a, b) => a.position - b.position).flatMap((pin) => this.server.messages.get(pin.messageId) ?? []);
    });
  search: Client["search"] = (query, channelId, signal) =>
    this.reply("search", [query, channelId], () => [...this.server.messages.values()].filter((message) => message.blocks.some((block) => block.kind === "text" && block.text.includes(query))), signal);

  /** A key stands for one message, however often it comes, and for no other. */
  private readonly posted = new Map<string, { readonly message: Message; readonly asSent: string }>();
  post: Client["post"] = (input) =>
    this.reply("post", [input], () => {
      const { requestId, ...sent } = input;
      const [before, asSent] = [this.posted.get(requestId), JSON.stringify(sent)];
      if (before && before.asSent !== asSent) throw new Failure("already", "this key was used for another message");
      const message = before?.message ?? this.server.post(input.channelId, input.topic, input.blocks);
      this.posted.set(requestId, { message, asSent });
      return message;
    });
  respond: Client["respond"] = (askId, answers) => this.reply("respond", [askId, answers], () => this.server.answer(askId, answers));
  markRead: Client["markRead"] = (topicId, seq) => this.reply("markRead", [topicId, seq], () => this.server.markRead(topicId, seq));
  updateTopic: Client["updateTopic"] = (topicId, change) => this.reply("updateTopic", [topicId, change], () => this.server.updateTopic(topicId, change));
  createChannel: Client["createChannel"] = (input) =>
    this.reply("createChannel", [input], () => {
      const members = [...this.server.accounts.values()].filter((account) => account.id === this.server.me.id || input.memberHandles.includes(account.handle));
      const memberIds = members.map((member) => member.id);
      return this.server.putChannel({ id: this.server.mint("channel"), name: input.name, groupId: input.groupId, kind: "channel", memberIds, subscriberIds: [], ownerOnly: false, ownerId: undefined, mandatory: false, pins: [], anchorId: undefined });
    });
  createGroup: Client["createGroup"] = (input) =>
    this.reply("createGroup", [input], () => {
      const made = { id: this.server.mint("group"), name: input.name, parentId: undefined, ownerId: this.server.me.id, shared: input.shared };
      this.server.seed(made).tell({ kind: "group_changed", group: made });
      return made;
    });
  updateMembers: Client["updateMembers"] = (channelId, change) =>
    this.reply("updateMembers", [channelId, change], () => {
      const before = this.channel(channelId);
      const kept = before.memberIds.filter((id) => !change.remove?.includes(id));
      const memberIds = [...new Set([...kept, ...(change.add ?? []), ...(change.subscribe ?? [])])];
      const subscribed = [...before.subscriberIds, ...(change.subscribe ?? [])].filter((id) => memberIds.includes(id) && !change.unsubscribe?.includes(id));
      this.server.channels.set(channelId, { ...before, subscriberIds: [...new Set(subscribed)], name: change.newName ?? before.name });
      return this.server.setMembers(channelId, memberIds);
    });
  setPolicy: Client["setPolicy"] = (channelId, policy) => this.reply("setPolicy", [channelId, policy], () => this.server.putChannel({ ...this.channel(channelId), ...policy }));
  joinChannel: Client["joinChannel"] = (channelId) =>
    this.reply("joinChannel", [channelId], () => {
      const before = this.channel(channelId);
      const id = this.server.me.id;
      return this.server.putChannel({ ...before, memberIds: [...before.memberIds, id], subscriberIds: [...before.subscriberIds, id] });
    });
  openDm: Client["openDm"] = (accountId) =>
    this.reply("openDm", [accountId], () => {
      const both = [this.server.me.id, accountId];
      const known = [...this.server.channels.values()].find((each) => each.kind === "dm" && both.every((id) => each.memberIds.includes(id)));
      return known ?? this.server.putChannel({ id: this.server.mint("dm"), name: "dm", groupId: undefined, kind: "dm", memberIds: both, subscriberIds: both, ownerOnly: false, ownerId: undefined, mandatory: true, pins: [], anchorId: undefined });
    });
  pin: Client["pin"] = (channelId, messageId) =>
    this.reply("pin", [channelId, messageId], () => {
      const before = this.channel(channelId);
      const pin = { messageId, position: before.pins.length, pinnedAt: this.server.at, pinnedBy: this.server.me.id };
      return this.server.putChannel({ ...before, pins: [...before.pins, pin] });
    });
  unpin: Client["unpin"] = (channelId, messageId) =>
    this.reply("unpin", [channelId, messageId], () => {
      const before = this.channel(channelId);
      return this.server.putChannel({ ...before, pins: before.pins.filter((pin) => pin.messageId !== messageId) });
    });

  createUser: Client["createUser"] = (handle, displayName) =>
    this.reply("createUser", [handle, displayName], () => this.server.putAccount(person(handle, { displayName })));
  createAgent: Client["createAgent"] = (handle, displayName) =>
    this.reply("createAgent", [handle, displayName], () => {
      const ownerId = this.server.me.id;
      const id = this.server.mint("agent");
      const home: Channel = { id: `home-${id}`, name: handle, groupId: undefined, kind: "channel", memberIds: [ownerId, id], subscriberIds: [ownerId, id], ownerOnly: false, ownerId: undefined, mandatory: false, pins: [], anchorId: undefined };
      const account: Account = { kind: "agent", id, handle, displayName, ownerId, homeChannelId: home.id, parentId: undefined };
      this.server.putAccount(account);
      this.server.putChannel(home);
      return account;
    });
  createSignIn: Client["createSignIn"] = (accountId) => this.reply("createSignIn", [accountId], () => this.server.mint("secret"));
  issueToken: Client["issueToken"] = (accountId) => this.reply("issueToken", [accountId], () => this.server.mint("token"));
  listTokens: Client["listTokens"] = (accountId) => this.reply("listTokens", [accountId], () => this.tokens);
  revokeToken: Client["revokeToken"] = (tokenId) =>
    this.reply("revokeToken", [tokenId], () => {
      this.tokens = this.tokens.filter((token) => token.id !== tokenId);
    });

  sessions: Client["sessions"] = () => this.reply("sessions", [], () => this.sessionList);
  startAgent: Client["startAgent"] = (accountId, requestId) =>
    this.reply("startAgent", [accountId, requestId], () => {
      const sessionId = this.server.mint("session");
      this.sessionList = [...this.sessionList, { sessionId, state: "starting", agentId: accountId }];
      return sessionId;
    });
  stopSession: Client["stopSession"] = (sessionId) =>
    this.reply("stopSession", [sessionId], () => {
      this.sessionList = this.sessionList.map((each) => (each.sessionId === sessionId ? { ...each, state: "stopped" } : each));
    });
  /** What a watched session tells, by session. */
  readonly sessionFrames = new Map<SessionId, readonly SessionFrame[]>();
  async *watchSession(sessionId: SessionId, signal: AbortSignal): AsyncIterable<SessionFrame> {
    this.calls.push({ method: "watchSession", input: [sessionId] });
    for (const frame of this.sessionFrames.get(sessionId) ?? []) yield frame;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  private visible(): readonly Channel[] {
    return [...this.server.channels.values()].filter((each) => this.server.sees(each.id));
  }

  private channel(channelId: string): Channel {
    const found = this.server.channels.get(channelId);
    if (!found) throw new Failure("not_found", "channel not found");
    return found;
  }

  private async reply<T>(method: Method, input: readonly unknown[], make: () => T, signal?: AbortSignal): Promise<T> {
    this.calls.push({ method, input });
    const failure = this.failures.get(method)?.shift();
    if (failure) throw failure;
    if (signal?.aborted) throw new Failure("aborted", "aborted");
    const way = this.ways.get(method)?.shift();
    if (way) await way;
    const value = make();
    const gate = this.gates.get(method)?.shift();
    if (gate) await gate;
    return value;
  }
}
