import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import type { ConnectRouter } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { CommsService } from "../gen/compass/v1/comms_pb";
import { AgentSessionState, CompassService } from "../gen/compass/v1/compass_pb";
import { InboxService } from "../gen/compass/v1/inbox_pb";
import { PeopleService } from "../gen/compass/v1/people_pb";
import { Failure, isUncertain } from "../model/client";
import type { FailureKind } from "../model/client";
import { createPageTransport, createWireClient } from "./client";
import { failureOf } from "./failure";
import { PAGE_HEADER } from "./header";
import { createPageSession } from "./page-session";

const over = (routes: (router: ConnectRouter) => void) => createWireClient({ baseUrl: "https://compass.test" }, createRouterTransport(routes));
const hello = { channelId: "c", topic: { kind: "id", id: "t" }, blocks: [{ kind: "text", text: "hello" }], requestId: "k" } as const;
const caught = async (call: Promise<unknown>): Promise<unknown> => call.then(() => undefined, (error: unknown) => error);

describe("failures", () => {
  it("have one kind for every code, and the server's own words", () => {
    const kinds: readonly (readonly [Code, FailureKind])[] = [
      [Code.Unauthenticated, "signed_out"], [Code.PermissionDenied, "not_allowed"], [Code.NotFound, "not_found"], [Code.InvalidArgument, "invalid"],
      [Code.OutOfRange, "invalid"], [Code.AlreadyExists, "already"], [Code.FailedPrecondition, "precondition"], [Code.Unavailable, "unavailable"],
      [Code.ResourceExhausted, "unavailable"], [Code.Unknown, "unknown"], [Code.Aborted, "aborted"], [Code.Internal, "internal"], [Code.DataLoss, "internal"],
      [Code.Unimplemented, "internal"],
    ];
    for (const [code, kind] of kinds) {
      const failure = failureOf(new ConnectError("server's words", code, { "grpc-status": String(code) }), "read");
      expect([failure.kind, failure.message], Code[code]).toEqual([kind, "server's words"]);
    }
  });

  it("without the server's word: a read could not be made, and of a write nobody knows", () => {
    const broken = ConnectError.from(new TypeError("Failed to fetch"), Code.Unknown);
    expect(failureOf(broken, "read").kind).toBe("unavailable");
    expect(failureOf(broken, "stream").kind).toBe("unavailable");
    expect(failureOf(broken, "write").kind).toBe("unknown");
    expect(failureOf(broken, "write").message).not.toContain("fetch");
    expect(failureOf(new ConnectError("late", Code.DeadlineExceeded), "write").kind).toBe("unknown");
    expect(failureOf(new ConnectError("gone", Code.Canceled), "read").kind).toBe("aborted");
    expect(failureOf(new Error("no message"), "read")).toMatchObject({ kind: "internal" });
    expect(failureOf(new Error("no message"), "write")).toMatchObject({ kind: "unknown", message: "The server's answer was not understood: no message" });
    const own = new Failure("invalid", "x");
    expect(failureOf(own, "read")).toBe(own);
  });
});

describe("what was to be written was not, and that is sure", () => {
  const CODES = Object.values(Code).filter((code) => typeof code === "number");
  const isSure = (error: unknown) => !isUncertain(error);

  it("only where the server refuses it before it does anything", () => {
    expect(CODES).toHaveLength(16);
    const sure = CODES.filter((code) => isSure(failureOf(new ConnectError("no", code, { "grpc-status": String(code) }), "write")));
    expect(sure.map((code) => Code[code])).toEqual(["InvalidArgument", "NotFound", "AlreadyExists", "PermissionDenied", "FailedPrecondition", "OutOfRange", "Unauthenticated"]);
  });
  it("and never where it gave no answer, whatever is thought of that here", () => {
    expect(CODES.filter((code) => isSure(failureOf(new ConnectError("no", code), "write")))).toEqual([]);
    expect(isSure(new TypeError("x is not a function"))).toBe(false);
  });
  it("nor where somebody else answered, unless nothing was let through", async () => {
    const statuses = [200, 400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504];
    const sure: number[] = [];
    for (const status of statuses) {
      const client = createWireClient({ baseUrl: "https://compass.test", fetch: () => Promise.resolve(new Response("<html>", { status, headers: { "content-type": "text/html" } })) });
      if (isSure(await caught(client.post(hello)))) sure.push(status);
    }
    expect(sure).toEqual([401, 403]);
  });
  it("nor where its answer is not understood", async () => {
    const bare = await caught(over(({ service }) => service(CommsService, { postMessage: () => ({}) })).post(hello));
    expect(bare).toMatchObject({ kind: "unknown", message: "The server's answer was not understood: the answer holds no message" });
    const body = new Uint8Array([0, 0, 0, 0, 1, 0xff]);
    const garbled = createWireClient({ baseUrl: "https://compass.test", fetch: () => Promise.resolve(new Response(body, { headers: { "content-type": "application/grpc-web+proto" } })) });
    expect([bare, await caught(garbled.post(hello))].map(isSure)).toEqual([false, false]);
  });
});

describe("the client", () => {
  it("sends the snapshot's token with reads and the stream's place with a subscription, and never one for the other", async () => {
    const seen: unknown[] = [];
    const client = over(({ service }) => {
      service(CommsService, {
        listChannels: (request) => { seen.push(request.snapshotSeq); return {}; },
        listMessages: (request) => { seen.push([request.container.value, request.topicId, request.beforeMessageId, request.limit, request.snapshotSeq]); return { messages: [{ id: "m" }] }; },
        async *subscribeComms(request) { await Promise.resolve(); seen.push([request.sinceSeq, request.instanceEpoch]); yield { snapshotSeq: 5n }; yield { seq: 8n, instanceEpoch: 2n }; },
      });
    });
    const token = { kind: "snapshot" as const, value: 41n };
    await client.listChannels(token);
    const input = { channelId: "c", topicId: "t", before: undefined, limit: 50, snapshot: token };
    expect((await client.listMessages(input)).map((message) => message.id)).toEqual(["m"]);
    await client.listMessages({ ...input, before: "b", snapshot: undefined });
    const kinds: string[] = [];
    for await (const frame of client.subscribe({ kind: "tail", seq: 7n, epoch: 2n }, new AbortController().signal)) kinds.push(frame.event.kind);
    for await (const frame of client.subscribe(undefined, new AbortController().signal)) kinds.push(frame.event.kind);
    expect(seen).toEqual([41n, ["c", "t", "", 50, 41n], ["c", "t", "b", 50, 0n], [7n, 2n], [0n, 0n]]);
    expect(kinds).toEqual(["boundary", "other", "boundary", "other"]);
  });

  it("posts text and asks with what a person may set and nothing else", async () => {
    const seen: unknown[] = [];
    const client = over(({ service }) => {
      service(CommsService, { postMessage: (request) => { seen.push([request.topic, request.clientRequestId, request.blocks.map((block) => block.block)]); return { message: { id: "m", atUnixMs: 4n } }; } });
    });
    const question = { id: "q", question: "Which?", header: "H", options: [{ id: "0", label: "L", description: "D", preview: "P" }], multiple: true, recommended: 0 };
    const posted = await client.post({ channelId: "c", topic: { kind: "name", name: "T" }, blocks: [{ kind: "text", text: "x" }, { kind: "ask", ask: { questions: [question] } }], requestId: "k" });
    expect(posted).toMatchObject({ id: "m", at: 4 });
    expect(seen).toMatchObject([[{ case: "topicName", value: "T" }, "k", [
      { case: "text", value: "x" },
      { case: "ask", value: { askId: "", answered: false, cancelled: false, questions: [{ questionId: "q", question: "Which?", header: "H", allowMultiple: true, recommended: 0, chosenOptionIds: [], customText: "", options: [{ id: "0", label: "L", description: "D", preview: "P" }] }] } },
    ]]]);
  });

  it("answers with the ids and texts it was given, pages open asks, and marks what was read", async () => {
    const seen: unknown[] = [];
    const client = over(({ service }) => {
      service(CommsService, { respondToAsk: (request) => { seen.push([request.askId, request.answers.map(({ questionId, chosenOptionIds, customText }) => [questionId, chosenOptionIds, customText])]); return {}; } });
      service(InboxService, {
        listOpenAsks: (request) => { seen.push([request.beforeMessageId, request.channelId, request.limit]); return { asks: [{ channelId: "c", message: { id: "m" } }] }; },
        markRead: (request) => { seen.push(request.channelSeq); return { position: { topicId: request.topicId, channelSeq: 9n, unreadCount: 1, lastChannelSeq: 10n } }; },
      });
    });
    await client.respond("a", [{ questionId: "q", chosen: ["0", "1"], customText: "t" }]);
    expect(await client.listOpenAsks({ before: "b", channelId: undefined })).toMatchObject([{ channelId: "c", message: { id: "m" } }]);
    expect(await client.markRead("t", 9)).toEqual({ topicId: "t", seq: 9, unread: 1, countedTo: 10 });
    expect(seen).toEqual([["a", [["q", ["0", "1"], "t"]]], ["b", "", 200], 9n]);
  });

  it("reads topics of several channels with the positions in them and the ways of those that are gone", async () => {
    const client = over(({ service }) => {
      service(InboxService, {
        listTopicsOfChannels: ({ channelIds }) => ({ topics: channelIds.map((channelId) => ({ id: `in ${channelId}`, channelId })), readPositions: [{ topicId: "in c" }], moved: [{ topicId: "old", intoTopicId: "in c" }] }),
      });
    });
    const { topics, positions, moved } = await client.listTopics(["c", "d"]);
    expect(topics.map(({ id, channelId }) => [id, channelId])).toEqual([["in c", "c"], ["in d", "d"]]);
    expect(positions.map(({ topicId }) => topicId)).toEqual(["in c"]);
    expect([...moved]).toEqual([["old", "in c"]]);
  });

  it("lists what is pinned in a channel", async () => {
    const client = over(({ service }) => {
      service(PeopleService, { listPinned: ({ channelId }) => ({ messages: [{ id: `in ${channelId}` }] }) });
    });
    expect((await client.listPinned("c")).map(({ id }) => id)).toEqual(["in c"]);
  });

  it("opens a conversation by the handle of the account it was told of", async () => {
    const seen: string[] = [];
    const client = over(({ service }) => {
      service(CommsService, { listAccounts: () => ({ accounts: [{ id: "7", handle: "ben" }] }) });
      service(PeopleService, { openDM: (request) => { seen.push(request.peerHandle); return { channel: { id: "dm" } }; } });
    });
    expect(await caught(client.openDm("7"))).toMatchObject({ kind: "not_found" });
    await client.listAccounts({ kind: "snapshot", value: 1n });
    expect((await client.openDm("7")).id).toBe("dm");
    expect(seen).toEqual(["ben"]);
  });

  it("rejects with the server's refusal, and with one of its own for a reply without what was asked for", async () => {
    const client = over(({ service }) => {
      service(CommsService, { updateTopic: () => ({}), setChannelPolicy: () => { throw new ConnectError("no such channel", Code.NotFound, { "grpc-status": "5" }); } });
      service(CompassService, { async *subscribeAgentSession() { await Promise.resolve(); yield { sessionId: "s", state: AgentSessionState.WORKING }; throw new ConnectError("no", Code.Unauthenticated, { "grpc-status": "16" }); } });
    });
    const bare = await caught(client.updateTopic("t", { archived: true }));
    expect(bare).toMatchObject({ kind: "unknown" });
    expect(String(bare)).toContain("no topic");
    expect(await caught(client.setPolicy("c", { ownerOnly: true, ownerId: undefined, mandatory: false }))).toMatchObject({ kind: "not_found", message: "no such channel" });
    const states: string[] = [];
    const watch = async () => { for await (const frame of client.watchSession("s", new AbortController().signal)) states.push(frame.state); };
    expect(await caught(watch())).toMatchObject({ kind: "signed_out" });
    expect(states).toEqual(["working"]);
  });

  it("says on every call that it is the page, stays on its origin, and learns the server's time", async () => {
    const calls: { readonly url: string; readonly page: string | null; readonly credentials: unknown }[] = [];
    const stamps: number[] = [];
    const fetched: typeof fetch = (input, init) => {
      const request = new Request(input, init);
      calls.push({ url: request.url, page: request.headers.get(PAGE_HEADER), credentials: init?.credentials });
      const trailer = new TextEncoder().encode("grpc-status: 16\r\ngrpc-message: sign%20in\r\n");
      const body = new Uint8Array([0x80, 0, 0, 0, trailer.length, ...trailer]);
      return Promise.resolve(new Response(body, { status: 200, headers: { "content-type": "application/grpc-web+proto", date: "Tue, 01 Dec 2026 09:00:00 GMT" } }));
    };
    const options = { baseUrl: "https://compass.test", fetch: fetched, stamped: (at: number) => stamps.push(at) };
    const client = createWireClient(options, createPageTransport(options));
    expect(await caught(client.whoAmI())).toMatchObject({ kind: "signed_out", message: "sign in" });
    expect(calls).toEqual([{ url: "https://compass.test/compass.v1.CompassService/WhoAmI", page: "1", credentials: "same-origin" }]);
    const refusing = createWireClient({ baseUrl: "https://compass.test", fetch: () => Promise.reject(new TypeError("Failed to fetch")) });
    expect(await caught(refusing.whoAmI())).toMatchObject({ kind: "unavailable" });
    expect(await caught(refusing.respond("a", []))).toMatchObject({ kind: "unknown" });
    const proxied = createWireClient({ baseUrl: "https://compass.test", fetch: () => Promise.resolve(new Response("<html>", { status: 502, headers: { "content-type": "text/html" } })) });
    expect(await caught(proxied.whoAmI())).toMatchObject({ kind: "unavailable" });
  });
});

describe("the page's session", () => {
  const seen: { readonly method: string; readonly body: unknown; readonly page: string | null }[] = [];
  const answering = (status: number, body?: string): typeof fetch => async (input, init) => {
    const request = new Request(input, init);
    const text = await request.text();
    seen.push({ method: request.method, body: text === "" ? undefined : JSON.parse(text), page: request.headers.get(PAGE_HEADER) });
    return new Response(status === 204 ? null : (body ?? ""), { status });
  };
  const session = (fetched: typeof fetch) => createPageSession({ baseUrl: "https://compass.test", fetch: fetched });

  it("is opened by a secret or a token, asked for, and ended", async () => {
    seen.length = 0;
    const open = session(answering(204));
    await open.signIn({ secret: "s" });
    await open.signIn({ token: "t" });
    expect(await open.isOpen()).toBe(true);
    await open.signOut();
    expect(await session(answering(401)).isOpen()).toBe(false);
    expect(seen.map(({ method, body, page }) => [method, body, page])).toEqual([
      ["POST", { sign_in: "s" }, "1"], ["POST", { token: "t" }, "1"], ["GET", undefined, "1"], ["DELETE", undefined, "1"], ["GET", undefined, "1"],
    ]);
  });

  it("tells a refusal in the server's words, and in its own where a proxy answers", async () => {
    const refused = (status: number, body: string) => caught(session(answering(status, body)).signIn({ secret: "s" }));
    expect(await refused(401, '{"error":"this link was used"}')).toMatchObject({ kind: "signed_out", message: "this link was used" });
    expect(await refused(403, '{"error":"the page is for people"}')).toMatchObject({ kind: "not_allowed", message: "the page is for people" });
    expect(await refused(400, "<html>")).toMatchObject({ kind: "invalid" });
    expect(String(await refused(400, "<html>"))).toContain("400");
    expect(await refused(413, '{"error":7}')).toMatchObject({ kind: "invalid" });
    expect(await refused(503, "")).toMatchObject({ kind: "unavailable" });
    expect(await caught(session(answering(500)).isOpen())).toMatchObject({ kind: "internal" });
    expect(await caught(session(() => Promise.reject(new TypeError("x"))).signOut())).toMatchObject({ kind: "unavailable" });
  });
});
