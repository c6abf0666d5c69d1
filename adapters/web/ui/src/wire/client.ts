/** The `Client` over gRPC-Web, on the page's own origin and with the page's own session. */
import { createClient } from "@connectrpc/connect";
import type { CallOptions, Interceptor, Transport } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { ChannelGroupVisibility, ChannelPostPolicy, CommsService, RosterScope } from "../gen/compass/v1/comms_pb";
import { CompassService } from "../gen/compass/v1/compass_pb";
import { InboxService } from "../gen/compass/v1/inbox_pb";
import { Failure } from "../model/client";
import type { Client } from "../model/client";
import type { Account, AccountId, NewBlock } from "../model/types";
import { wireText } from "../strings/wire";
import * as adapt from "./adapt";
import { required } from "./adapt";
import { failureOf } from "./failure";
import { PAGE_HEADER } from "./header";

/** How long a call may take; the server's own limit is 30 s. */
const CALL_MS = 35_000;
/** The same for one that waits for a runner. */
const COMMAND_MS = 155_000;
/** As many as the server gives at once: all are read before one is shown, and each page is a way there and back. */
const OPEN_ASKS_A_PAGE = 200;

export interface WireOptions {
  /** Where the server is; the page's own origin in a browser. */
  readonly baseUrl: string;
  /** Learns the server's time from the date of its replies, in ms. */
  readonly stamped?: (at: number) => void;
  /** What of a stream could not be read. */
  readonly report?: (error: unknown) => void;
  readonly fetch?: typeof fetch;
}

const page = (stamped: WireOptions["stamped"]): Interceptor => (next) => async (request) => {
  request.header.set(PAGE_HEADER, "1");
  const response = await next(request);
  const date = Date.parse(response.header.get("date") ?? "");
  if (!Number.isNaN(date)) stamped?.(date);
  return response;
};

export const createPageTransport = (options: WireOptions): Transport => {
  const call = options.fetch ?? globalThis.fetch;
  return createGrpcWebTransport({
    baseUrl: options.baseUrl,
    interceptors: [page(options.stamped)],
    fetch: (input, init) => call(input, { ...init, credentials: "same-origin" }),
  });
};

const newBlock = (from: NewBlock) =>
  from.kind === "text"
    ? { block: { case: "text" as const, value: from.text } }
    : {
        block: {
          case: "ask" as const,
          value: {
            questions: from.ask.questions.map(({ id, question, header, options, multiple, recommended }) => ({
              questionId: id, question, header, allowMultiple: multiple, ...(recommended === undefined ? {} : { recommended }),
              options: options.map(({ id: optionId, label, description, preview }) => ({ id: optionId, label, description, preview })),
            })),
          },
        },
      };

const options = (signal: AbortSignal | undefined, timeoutMs: number): CallOptions => (signal ? { signal, timeoutMs } : { timeoutMs });

const read = async <T, R>(call: (options: CallOptions) => Promise<T>, then: (reply: T) => R, signal?: AbortSignal): Promise<R> => {
  try {
    return then(await call(options(signal, CALL_MS)));
  } catch (error) {
    throw failureOf(error, "read");
  }
};

const write = async <T, R>(call: (options: CallOptions) => Promise<T>, then: (reply: T) => R, timeoutMs = CALL_MS): Promise<R> => {
  try {
    return then(await call(options(undefined, timeoutMs)));
  } catch (error) {
    throw failureOf(error, "write");
  }
};

async function* stream<T, R>(open: () => AsyncIterable<T>, then: (item: T) => R, signal: AbortSignal): AsyncIterable<R> {
  try {
    for await (const item of open()) yield then(item);
  } catch (error) {
    if (signal.aborted) return;
    throw failureOf(error, "stream");
  }
}

/** A file of the page that does not come is the server that cannot be reached; nothing was sent. */
const fetched = async <T>(file: Promise<T>): Promise<T> => {
  try {
    return await file;
  } catch {
    throw new Failure("unavailable", wireText.unreachable);
  }
};

export const createWireClient = (wire: WireOptions, transport: Transport = createPageTransport(wire)): Client => {
  const comms = createClient(CommsService, transport);
  const compass = createClient(CompassService, transport);
  const inbox = createClient(InboxService, transport);
  // What is wanted seldom is not worth a place in the first view.
  const people = async () => createClient((await fetched(import("../gen/compass/v1/people_pb"))).PeopleService, transport);
  const tokens = async () => createClient((await fetched(import("../gen/compass/v1/session_pb"))).SessionService, transport);
  const sessions = () => fetched(import("./adapt-session"));
  const report = wire.report ?? (() => undefined);
  // The wire names a peer by handle where the page knows an id.
  const handles = new Map<AccountId, string>();
  const account = (from: Parameters<typeof adapt.account>[0]): Account => {
    const known = adapt.account(from);
    handles.set(known.id, known.handle);
    return known;
  };

  return {
    serverInfo: (signal) => read((to) => compass.getServerInfo({}, to), ({ version, apiVersion }) => ({ version, apiVersion }), signal),
    whoAmI: (signal) => read((to) => compass.whoAmI({}, to), (reply) => reply.accountId, signal),
    subscribe: (since, signal) =>
      stream(() => comms.subscribeComms({ sinceSeq: since?.seq ?? 0n, instanceEpoch: since?.epoch ?? 0n }, { signal }), (frame) => {
        const told = adapt.frame(frame, report);
        if (told.event.kind === "account_changed") handles.set(told.event.account.id, told.event.account.handle);
        return told;
      }, signal),

    listAccounts: (snapshot, signal) => read((to) => comms.listAccounts({ snapshotSeq: snapshot.value }, to), (reply) => reply.accounts.map(account), signal),
    listGroups: (snapshot, signal) => read((to) => comms.listChannelGroups({ snapshotSeq: snapshot.value }, to), (reply) => reply.groups.map(adapt.group), signal),
    listChannels: (snapshot, signal) => read((to) => comms.listChannels({ snapshotSeq: snapshot.value }, to), (reply) => reply.channels.map(adapt.channel), signal),
    roster: (signal) => read((to) => comms.getRoster({ scope: RosterScope.OWNER }, to), (reply) => adapt.roster(reply.entries), signal),
    listTopics: (channelIds, signal) =>
      read((to) => inbox.listTopicsOfChannels({ channelIds: [...channelIds] }, to), (reply) => ({ topics: reply.topics.map(adapt.topic), positions: reply.readPositions.map(adapt.position), moved: adapt.moved(reply.moved) }), signal),
    listOpenAsks: ({ before, channelId }, signal) =>
      read((to) => inbox.listOpenAsks({ beforeMessageId: before ?? "", channelId: channelId ?? "", limit: OPEN_ASKS_A_PAGE }, to), (reply) => reply.asks.map(adapt.openAskEntry), signal),
    readPositions: (signal) => read((to) => inbox.readPositions({}, to), (reply) => reply.positions.map(adapt.position), signal),
    listMessages: ({ channelId, topicId, before, limit, snapshot }, signal) =>
      read(
        (to) => comms.listMessages({ container: { case: "channelId", value: channelId }, topicId, beforeMessageId: before ?? "", limit, snapshotSeq: snapshot?.value ?? 0n }, to),
        (reply) => reply.messages.map(adapt.message),
        signal,
      ),
    listPinned: (channelId) => read(async (to) => (await people()).listPinned({ channelId }, to), (reply) => reply.messages.map(adapt.message)),
    search: (query, channelId, signal) =>
      read((to) => comms.searchMessages(channelId === undefined ? { query } : { query, scope: { case: "channelId", value: channelId } }, to), (reply) => reply.messages.map(adapt.message), signal),

    post: ({ channelId, topic, blocks, requestId }) =>
      write(
        (to) =>
          comms.postMessage(
            {
              container: { case: "channelId", value: channelId },
              topic: topic.kind === "id" ? { case: "topicId", value: topic.id } : { case: "topicName", value: topic.name },
              blocks: blocks.map(newBlock),
              clientRequestId: requestId,
            },
            to,
          ),
        (reply) => adapt.message(required(reply.message, "message")),
      ),
    respond: (askId, answers) =>
      write((to) => comms.respondToAsk({ askId, answers: answers.map(({ questionId, chosen, customText }) => ({ questionId, chosenOptionIds: [...chosen], customText })) }, to), () => undefined),
    markRead: (topicId, seq) => write((to) => inbox.markRead({ topicId, channelSeq: BigInt(seq) }, to), (reply) => adapt.position(required(reply.position, "position"))),
    updateTopic: (topicId, change) => write((to) => comms.updateTopic({ topicId, ...change }, to), (reply) => adapt.topic(required(reply.topic, "topic"))),
    createChannel: ({ name, groupId, memberHandles }) =>
      write((to) => comms.createChannel({ name, groupId: groupId ?? "", memberHandles: [...memberHandles] }, to), (reply) => adapt.channel(required(reply.channel, "channel"))),
    createGroup: ({ name, shared }) =>
      write(
        (to) => comms.createChannelGroup({ name, visibility: shared ? ChannelGroupVisibility.SHARED : ChannelGroupVisibility.OWNER }, to),
        (reply) => adapt.group(required(reply.group, "group")),
      ),
    updateMembers: (channelId, { add, remove, subscribe, unsubscribe, newName }) =>
      write(
        (to) =>
          comms.updateChannelMembers(
            {
              channelId, addMemberAccountIds: [...(add ?? [])], removeMemberAccountIds: [...(remove ?? [])], subscribeAccountIds: [...(subscribe ?? [])],
              unsubscribeAccountIds: [...(unsubscribe ?? [])], newName: newName ?? "",
            },
            to,
          ),
        (reply) => adapt.channel(required(reply.channel, "channel")),
      ),
    setPolicy: (channelId, { ownerOnly, ownerId, mandatory }) =>
      write(
        (to) =>
          comms.setChannelPolicy(
            { channelId, postPolicy: ownerOnly ? ChannelPostPolicy.OWNER_ONLY : ChannelPostPolicy.OPEN, ownerAccountId: ownerId ?? "", mandatorySubscription: mandatory },
            to,
          ),
        (reply) => adapt.channel(required(reply.channel, "channel")),
      ),
    joinChannel: (channelId) => write(async (to) => (await people()).joinChannel({ channelId }, to), (reply) => adapt.channel(required(reply.channel, "channel"))),
    openDm: async (accountId) => {
      const peerHandle = handles.get(accountId);
      if (peerHandle === undefined) throw new Failure("not_found", wireText.nobody);
      return write(async (to) => (await people()).openDM({ peerHandle }, to), (reply) => adapt.channel(required(reply.channel, "channel")));
    },
    pin: (channelId, messageId) =>
      write((to) => comms.updatePinnedBoard({ channelId, op: { case: "pin", value: { messageId } } }, to), (reply) => adapt.channel(required(reply.channel, "channel"))),
    unpin: (channelId, messageId) =>
      write((to) => comms.updatePinnedBoard({ channelId, op: { case: "unpinMessageId", value: messageId } }, to), (reply) => adapt.channel(required(reply.channel, "channel"))),

    createUser: (handle, displayName) => write((to) => comms.createUser({ handle, displayName }, to), (reply) => account(required(reply.account, "account"))),
    createAgent: (handle, displayName) => write((to) => comms.createAgent({ handle, displayName }, to), (reply) => account(required(reply.account, "account"))),
    createSignIn: (accountId) => write(async (to) => (await tokens()).createSignInLink({ accountId }, to), (reply) => reply.secret),
    issueToken: (accountId) => write((to) => compass.issueToken({ accountId }, to), (reply) => reply.token),
    listTokens: async (accountId) => {
      const { tokenInfo } = await sessions();
      return read(async (to) => (await tokens()).listTokens({ accountId }, to), (reply) => reply.tokens.map(tokenInfo));
    },
    revokeToken: (tokenId) => write(async (to) => (await tokens()).revokeTokenById({ tokenId }, to), () => undefined),

    sessions: async () => {
      const { session } = await sessions();
      return read((to) => compass.getAgentStatus({}, to), (reply) => reply.statuses.map(session));
    },
    startAgent: (agentAccountId, clientRequestId) => write((to) => compass.spawnAgent({ agentAccountId, clientRequestId }, to), (reply) => reply.sessionId, COMMAND_MS),
    stopSession: (sessionId) => write((to) => compass.stopAgentSession({ sessionId }, to), () => undefined, COMMAND_MS),
    async *watchSession(sessionId, signal) {
      const { sessionFrame } = await sessions();
      yield* stream(() => compass.subscribeAgentSession({ sessionId }, { signal }), sessionFrame, signal);
    },
  };
};
