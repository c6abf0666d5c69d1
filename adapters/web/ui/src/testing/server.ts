/** A small server for tests: the truth of one tenant as one person sees it, with the real server's rules of counting. */
import type {
  Account, AccountId, Ask, AskId, Block, Channel, ChannelId, Group, Message, MessageId, NewBlock, OpenAskEntry, Presence, PresenceState,
  QuestionAnswer, ReadPosition, StreamEvent, Topic, TopicId, TopicSelector,
} from "../model/types";
import { Failure } from "../model/client";
import { takesPart } from "../model/account";
import { possible, possibleMessage } from "./builders";

/** An event, made when it is told, because some of it is counted then. */
type Telling = () => StreamEvent;

const LISTED_PARTICIPANTS = 5;
const replaced = (block: Block, by: Ask): Block => (block.kind === "ask" && block.ask.id === by.id ? { kind: "ask", ask: by } : block);

export class FakeServer {
  readonly accounts = new Map<AccountId, Account>();
  readonly groups = new Map<string, Group>();
  readonly channels = new Map<ChannelId, Channel>();
  readonly presence = new Map<AccountId, Presence>();
  readonly messages = new Map<MessageId, Message>();
  /** What was told so far, oldest first. */
  readonly told: Telling[] = [];
  at = 10_000;
  private readonly topicRows = new Map<TopicId, Topic>();
  private readonly ways = new Map<TopicId, { readonly channelId: ChannelId; readonly into: TopicId }>();
  private readonly readTo = new Map<TopicId, number>();
  private readonly listeners = new Set<() => void>();
  private count = 0;

  constructor(readonly me: Account) {
    this.accounts.set(me.id, me);
  }

  onTold(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Tells an event as it is; for what the methods below do not cover. */
  tell(...events: readonly (StreamEvent | Telling)[]): void {
    for (const event of events) {
      if (typeof event !== "function" && (event.kind === "message_posted" || event.kind === "message_updated")) possibleMessage(event.message);
      this.told.push(typeof event === "function" ? event : () => event);
    }
    for (const listener of this.listeners) listener();
  }

  // Things that are there from the start; nothing is told about them.
  seed(...things: readonly (Account | Channel | Group | Topic)[]): this {
    for (const thing of things) {
      if ("handle" in thing) this.accounts.set(thing.id, thing);
      else if ("memberIds" in thing) this.channels.set(thing.id, thing);
      else if ("shared" in thing) this.groups.set(thing.id, thing);
      else this.topicRows.set(thing.id, thing);
    }
    return this;
  }

  /** Puts a message where its `seq` says, without telling. */
  seedMessage(channelId: ChannelId, message: Message): Message {
    if (!this.topicRows.has(message.topicId)) throw new Error(`there is no topic "${message.topicId}"`);
    if (this.topicRows.get(message.topicId)?.channelId !== channelId) throw new Error(`topic "${message.topicId}" is not in "${channelId}"`);
    this.messages.set(message.id, possibleMessage(message));
    return message;
  }

  participates(channelId: ChannelId): boolean {
    const channel = this.channels.get(channelId);
    return channel !== undefined && takesPart(channel, this.me.id, this.accounts);
  }

  /** True if the person is told an event now: who takes part is asked when it is carried, not when it happened. */
  reaches(event: StreamEvent): boolean {
    if (event.kind === "channel_changed") return event.removedIds.includes(this.me.id) || this.sees(event.channel.id);
    if (event.kind === "topic_upserted") return this.participates(event.topic.channelId);
    if (event.kind === "topic_merged") return this.participates(event.into.channelId);
    if (event.kind !== "message_posted" && event.kind !== "message_updated") return true;
    const row = this.topicRows.get(this.messages.get(event.message.id)?.topicId ?? event.message.topicId);
    return row === undefined || this.participates(row.channelId);
  }

  sees(channelId: ChannelId): boolean {
    const channel = this.channels.get(channelId);
    const isShared = channel?.groupId !== undefined && this.groups.get(channel.groupId)?.shared === true;
    return this.participates(channelId) || (channel?.kind === "channel" && isShared);
  }

  channelOf(topicId: TopicId): ChannelId {
    const row = this.topicRows.get(topicId);
    if (!row) throw new Failure("not_found", "topic not found");
    return row.channelId;
  }

  /** Messages of a channel, oldest first. */
  inChannel(channelId: ChannelId): readonly Message[] {
    return [...this.messages.values()].filter((each) => this.topicRows.get(each.topicId)?.channelId === channelId).sort((a, b) => a.seq - b.seq);
  }

  inTopic(topicId: TopicId): readonly Message[] {
    return [...this.messages.values()].filter((each) => each.topicId === topicId).sort((a, b) => a.seq - b.seq);
  }

  topic(topicId: TopicId): Topic {
    const row = this.topicRows.get(topicId);
    if (!row) throw new Failure("not_found", "topic not found");
    const inside = this.inTopic(topicId);
    const last = inside.at(-1);
    if (!last) return row;
    const open = inside.flatMap((each) => each.blocks).filter((block) => block.kind === "ask" && block.ask.end.kind === "open").length;
    const authors = [...new Set(inside.map((each) => each.authorId))].slice(0, LISTED_PARTICIPANTS);
    return { ...row, messageCount: inside.length, lastActivity: last.at, lastSeq: last.seq, participantIds: authors, openAsks: open };
  }

  topics(channelId: ChannelId, includeArchived: boolean): readonly Topic[] {
    const rows = [...this.topicRows.values()].filter((row) => row.channelId === channelId && (includeArchived || !row.archived));
    return rows.map((row) => this.topic(row.id));
  }

  /** The topics of a channel that were joined to others, each with the one that has its messages now. */
  moved(channelId: ChannelId): readonly (readonly [TopicId, TopicId])[] {
    return [...this.ways].flatMap(([id, way]) => (way.channelId === channelId ? [[id, way.into] as const] : []));
  }

  position(topicId: TopicId): ReadPosition {
    const seq = this.readTo.get(topicId) ?? 0;
    const inside = this.inTopic(topicId);
    const unread = inside.filter((each) => each.seq > seq && each.authorId !== this.me.id).length;
    return { topicId, seq, unread, countedTo: this.topic(topicId).lastSeq };
  }

  positions(channelId?: ChannelId): readonly ReadPosition[] {
    const rows = [...this.topicRows.values()].filter((row) => (channelId === undefined ? this.participates(row.channelId) : row.channelId === channelId));
    return rows.map((row) => this.position(row.id));
  }

  /** Newest first. */
  openAsks(): readonly OpenAskEntry[] {
    const open = [...this.messages.values()].filter((each) => each.blocks.some((block) => block.kind === "ask" && block.ask.end.kind === "open"));
    const mine = open.map((message) => ({ message, channelId: this.channelOf(message.topicId) })).filter((entry) => this.participates(entry.channelId));
    return mine.reverse();
  }

  post(channelId: ChannelId, to: TopicSelector, blocks: readonly NewBlock[], authorId: AccountId = this.me.id): Message {
    const told: Telling[] = [];
    const row = this.selected(channelId, to, authorId, told);
    const message = this.append(row, authorId, blocks.map((block) => this.minted(block)));
    this.tell(...told, { kind: "message_posted", message });
    return message;
  }

  /** Posts an ask of one question in free text, called "q"; gives its id. */
  ask(channelId: ChannelId, to: TopicSelector, question: string, authorId: AccountId): AskId {
    const questions = [{ id: "q", question, header: "", options: [], multiple: false, recommended: undefined }];
    const [block] = this.post(channelId, to, [{ kind: "ask", ask: { questions } }], authorId).blocks;
    if (block?.kind !== "ask") throw new Error("no ask was posted");
    return block.ask.id;
  }

  answer(askId: AskId, answers: readonly QuestionAnswer[], by: AccountId = this.me.id): void {
    const { message, ask } = this.found(askId);
    this.refuseClosed(ask);
    const questions = ask.questions.map((question) => {
      const given = answers.find((each) => each.questionId === question.id);
      if (!given) throw new Failure("invalid", `question "${question.id}" is not answered`);
      return { ...question, chosen: given.chosen, customText: given.customText };
    });
    const closed = possible({ ...ask, questions, end: { kind: "answered", by, at: this.tick() } });
    const updated = this.close(message, closed);
    const answer = this.append(this.row(message.topicId), by, [{ kind: "answer", ask: closed, askerId: message.authorId }]);
    this.tell({ kind: "message_updated", message: updated }, { kind: "message_posted", message: answer });
  }

  cancel(askId: AskId): void {
    const { message, ask } = this.found(askId);
    this.refuseClosed(ask);
    this.tell({ kind: "message_updated", message: this.close(message, { ...ask, end: { kind: "cancelled", at: this.tick() } }) });
  }

  updateTopic(topicId: TopicId, change: { readonly name?: string; readonly archived?: boolean }): Topic {
    const row = this.row(topicId);
    const wanted = change.name;
    const holder = wanted === undefined ? undefined : this.named(row.channelId, wanted);
    if (holder && holder.id !== topicId) return this.merge(row, holder, change.archived);
    this.topicRows.set(topicId, { ...row, name: wanted ?? row.name, archived: change.archived ?? row.archived });
    const topic = this.topic(topicId);
    this.tell({ kind: "topic_upserted", topic });
    return topic;
  }

  markRead(topicId: TopicId, seq: number): ReadPosition {
    const newest = this.topic(topicId).lastSeq;
    if (seq > newest) throw new Failure("invalid", `channel_seq ${seq} is beyond the topic's newest message, which has ${newest}`);
    if (seq > (this.readTo.get(topicId) ?? 0)) {
      this.readTo.set(topicId, seq);
      this.tell(() => (this.topicRows.has(topicId) ? { kind: "read_position_changed", position: this.position(topicId) } : { kind: "other" }));
    }
    return this.position(topicId);
  }

  setMembers(channelId: ChannelId, memberIds: readonly AccountId[]): Channel {
    const before = this.channels.get(channelId);
    if (!before) throw new Failure("not_found", "channel not found");
    const channel = { ...before, memberIds, subscriberIds: before.subscriberIds.filter((id) => memberIds.includes(id)) };
    this.channels.set(channelId, channel);
    const removedIds = before.memberIds.filter((id) => !memberIds.includes(id));
    this.tell({ kind: "channel_changed", channel, removedIds });
    return channel;
  }

  putChannel(channel: Channel): Channel {
    this.channels.set(channel.id, channel);
    this.tell({ kind: "channel_changed", channel, removedIds: [] });
    return channel;
  }

  putAccount(account: Account): Account {
    this.accounts.set(account.id, account);
    this.tell({ kind: "account_changed", account });
    return account;
  }

  setPresence(agentId: AccountId, state: PresenceState, activity = ""): void {
    const before = this.presence.get(agentId);
    const said = activity === "" ? (before?.activity ?? "") : activity;
    this.presence.set(agentId, { state, activity: said, activityAt: activity === "" ? (before?.activityAt ?? 0) : this.at });
    this.tell({ kind: "presence_changed", agentId, state, activity });
  }

  mint(what: string): string {
    this.count += 1;
    return `${what}-${this.count}`;
  }

  private minted(block: NewBlock): Block {
    if (block.kind === "text") return block;
    const questions = block.ask.questions.map((question) => ({ ...question, chosen: [], customText: "" }));
    return { kind: "ask", ask: possible({ id: this.mint("ask"), questions, end: { kind: "open" } }) };
  }

  private row(topicId: TopicId): Topic {
    const row = this.topicRows.get(topicId);
    if (!row) throw new Failure("not_found", "topic not found");
    return row;
  }

  private named(channelId: ChannelId, name: string): Topic | undefined {
    return [...this.topicRows.values()].find((row) => row.channelId === channelId && row.name.toLowerCase() === name.trim().toLowerCase());
  }

  private selected(channelId: ChannelId, to: TopicSelector, by: AccountId, told: Telling[]): Topic {
    if (to.kind === "id") return this.row(to.id);
    const known = this.named(channelId, to.name);
    if (known && !known.archived) return known;
    const fresh: Topic = known
      ? { ...known, archived: false }
      : { id: this.mint("topic"), channelId, name: to.name.trim(), createdAt: this.at, createdBy: by, archived: false, messageCount: 0, lastActivity: this.at, participantIds: [], openAsks: 0, braked: false, lastSeq: 0 };
    this.topicRows.set(fresh.id, fresh);
    // Told as of its commit, with the message that made or revived it.
    const seq = this.nextSeq(channelId);
    const counted = known ? this.topic(fresh.id) : fresh;
    const participantIds = counted.participantIds.includes(by) ? counted.participantIds : [...counted.participantIds, by].slice(0, LISTED_PARTICIPANTS);
    const committed = { ...counted, messageCount: counted.messageCount + 1, lastSeq: seq, lastActivity: this.at, participantIds };
    told.push(() => ({ kind: "topic_upserted", topic: committed }));
    return fresh;
  }

  private nextSeq(channelId: ChannelId): number {
    return (this.inChannel(channelId).at(-1)?.seq ?? 0) + 1;
  }

  private append(row: Topic, authorId: AccountId, blocks: readonly Block[]): Message {
    const message: Message = { id: this.mint("posted"), topicId: row.id, authorId, at: this.at, blocks, seq: this.nextSeq(row.channelId) };
    this.messages.set(message.id, message);
    return message;
  }

  private found(askId: AskId): { readonly message: Message; readonly ask: Ask } {
    for (const message of this.messages.values())
      for (const block of message.blocks) if (block.kind === "ask" && block.ask.id === askId) return { message, ask: block.ask };
    throw new Failure("not_found", "ask not found");
  }

  private refuseClosed(ask: Ask): void {
    if (ask.end.kind === "answered") throw new Failure("already", `ask "${ask.id}" is already answered`);
    if (ask.end.kind === "cancelled") throw new Failure("already", `ask "${ask.id}" is cancelled`);
  }

  private close(message: Message, closed: Ask): Message {
    const updated = { ...message, blocks: message.blocks.map((block) => replaced(block, closed)) };
    this.messages.set(message.id, updated);
    return updated;
  }

  private merge(from: Topic, into: Topic, archived: boolean | undefined): Topic {
    const [newestOfFrom, newestOfInto] = [this.topic(from.id).lastSeq, this.topic(into.id).lastSeq];
    const [inFrom, inInto] = [this.readTo.get(from.id), this.readTo.get(into.id)];
    for (const moved of this.inTopic(from.id)) this.messages.set(moved.id, { ...moved, topicId: into.id });
    this.topicRows.delete(from.id);
    for (const [id, way] of this.ways) if (way.into === from.id) this.ways.set(id, { ...way, into: into.id });
    this.ways.set(from.id, { channelId: from.channelId, into: into.id });
    this.topicRows.set(into.id, { ...into, archived: archived ?? into.archived });
    const survivor = this.topic(into.id);
    this.tell({ kind: "topic_merged", fromId: from.id, into: survivor }, { kind: "topic_upserted", topic: survivor });
    if (inFrom === undefined && inInto === undefined) return survivor;
    const [one, other] = [inFrom ?? 0, inInto ?? 0];
    const [allOne, allOther] = [one >= newestOfFrom, other >= newestOfInto];
    this.readTo.delete(from.id);
    this.readTo.set(into.id, allOne && allOther ? Math.max(one, other) : allOne ? other : allOther ? one : Math.min(one, other));
    this.tell(() => (this.topicRows.has(into.id) ? { kind: "read_position_changed", position: this.position(into.id) } : { kind: "other" }));
    return survivor;
  }

  private tick(): number {
    this.at += 1;
    return this.at;
  }
}
