import { describe, expect, it } from "vitest";
import { Failure } from "../model/client";
import type { SnapshotToken } from "../model/types";
import { ask, asking, message } from "../testing/builders";
import { FakeStream } from "../testing/fake";
import type { FakeClient, Method } from "../testing/fake";
import { bot, planned } from "../testing/planned";
import { FakeWorld, settle, testStore } from "../testing/store";
import { Batch, EVERY_MS } from "./batch";
import { Pump } from "./pump";
import { BACKOFF_BASE_MS, BACKOFF_CAP_MS, PATIENCE, WATCHED_PATIENCE, backoff } from "./run";
import { IN_FLIGHT, limited } from "./snapshot";

const READS: readonly Method[] = ["listAccounts", "listGroups", "listChannels", "roster", "listTopics", "listOpenAsks"];

const since = (client: FakeClient) => client.streams.map((stream) => stream.since?.seq);

/** Closes each stream as soon as it is there: the next one comes after these waits and not earlier. */
const closedAgain = async (client: FakeClient, pass: (ms: number) => Promise<void>, waits: readonly number[]) => {
  for (const wait of waits) {
    const tries = client.streams.length;
    client.stream.close();
    await pass(wait - 1);
    expect(client.streams).toHaveLength(tries);
    await pass(1);
    expect(client.streams).toHaveLength(tries + 1);
  }
};

describe("the first snapshot", () => {
  it("C1 boundary, then reads that all carry its token, then the tail", async () => {
    const { client, say, plan } = planned();
    // The two pages that are read before the topics, and the first that is read after them.
    for (let page = 0; page < 2; page += 1) client.hold("listOpenAsks").release();
    const held = client.hold("listOpenAsks");
    const { store, pass } = await testStore(client, { wait: false });
    await pass();
    const token: SnapshotToken = { kind: "snapshot", value: client.position() };
    for (const method of ["listAccounts", "listGroups", "listChannels"] as const) expect(client.called(method)[0]?.input, method).toEqual([token]);
    expect(client.called("listTopics").map((call) => call.input[0])).toEqual([[plan.id]]);
    expect(store.state().ready).toBe(false);
    say();
    await pass();
    expect(store.state().topics.size).toBe(0);
    held.release();
    await pass();
    expect(store.state().ready).toBe(true);
    expect(store.state().topics.get("topic-plan")?.messageCount).toBe(2);
    store.dispose();
  });

  it("C1 what waits for an answer is there before the topics are read, and is read again after them", async () => {
    const { client, server, say } = planned();
    const held = client.hold("listTopics");
    const { store, pass } = await testStore(client, { wait: false });
    await pass();
    expect([...store.state().openAsks.keys()]).toEqual(["a"]);
    expect(store.state().accounts.size).toBe(2);
    expect(store.state().ready).toBe(false);
    expect(store.connection().kind).toBe("connecting");
    server.cancel("a");
    say();
    held.release();
    await pass();
    expect(store.state().ready).toBe(true);
    expect(store.state().openAsks.size).toBe(0);
    store.dispose();
  });

  it("C2 a message that is in the reads and in the tail is there once", async () => {
    const { client, say, plan } = planned();
    say();
    const { store, pass } = await testStore(client);
    store.openTopic(plan.id, "topic-plan");
    await pass();
    expect(store.state().windows.get("topic-plan")?.messages.map((each) => each.seq)).toEqual([1, 2]);
    expect(store.state().topics.get("topic-plan")?.messageCount).toBe(2);
    store.dispose();
  });

  it("C11 open asks are paged until a page is empty, not until one is short", async () => {
    const { client, server, plan } = planned();
    for (let seq = 2; seq < 6; seq += 1) server.seedMessage(plan.id, message(seq, [asking(ask(`a${seq}`))], { authorId: bot.id }));
    client.pageSize = 2;
    const { store } = await testStore(client);
    expect(store.state().openAsks.size).toBe(5);
    expect(client.called("listOpenAsks")).toHaveLength(2 * 4);
    store.dispose();
  });

  it("C12 one failed read fails the whole snapshot, which is read again", async () => {
    for (const method of READS) {
      const { client } = planned();
      client.failNext(method);
      const { store, pass, errors } = await testStore(client);
      expect(store.state().ready, method).toBe(false);
      expect(store.state().topics.size, method).toBe(0);
      // Only a read after what waits for an answer leaves that.
      expect(store.state().accounts.size, method).toBe(method === "listTopics" ? 2 : 0);
      expect(store.connection().kind, method).toBe("lost");
      expect(errors.map(({ where }) => where), method).toEqual(["stream"]);
      await pass(BACKOFF_CAP_MS);
      expect(store.state().ready, method).toBe(true);
      expect(client.called(method).length, method).toBeGreaterThan(1);
      store.dispose();
    }
  });

  it("has at most eight reads on their way", async () => {
    const run = limited(IN_FLIGHT);
    let [now, most] = [0, 0];
    const reads = Array.from({ length: 40 }, (_, index) =>
      run(async () => {
        now += 1;
        most = Math.max(most, now);
        await settle();
        now -= 1;
        if (index === 20) throw new Error("one fails");
        return index;
      }).catch(() => -1),
    );
    expect((await Promise.all(reads)).length).toBe(40);
    expect(most).toBe(IN_FLIGHT);
  });
});

describe("a connection that breaks", () => {
  it("C3 lost events: both counters start over, at once, and everything is read again", async () => {
    const { client, say } = planned();
    const { store, pass } = await testStore(client);
    say();
    await pass();
    client.stream.push(client.resync());
    await pass();
    expect(since(client)).toEqual([undefined, undefined]);
    expect(client.called("listAccounts")).toHaveLength(2);
    expect(store.connection()).toEqual({ kind: "live" });
    expect(store.state().topics.get("topic-plan")?.messageCount).toBe(2);
    store.dispose();
  });

  it("C3 a server that only says to start over is not hammered", async () => {
    const { client } = planned();
    const { store, pass } = await testStore(client);
    const subscribe = client.subscribe.bind(client);
    client.subscribe = (cursor, signal) => {
      subscribe(undefined, signal);
      client.calls.pop();
      client.calls.push({ method: "subscribe", input: [cursor] });
      client.streams.at(-1)?.close();
      const over = client.resync();
      return { async *[Symbol.asyncIterator]() { await Promise.resolve(); yield over; } };
    };
    client.stream.push(client.resync());
    await pass(BACKOFF_BASE_MS - 1);
    expect(client.called("subscribe").length).toBeLessThan(4);
    store.dispose();
  });

  it("C4 a reconnect goes on after the stream's own place, never after the snapshot's, and never at 0", async () => {
    const { client, say } = planned();
    const { store, pass } = await testStore(client);
    say();
    say();
    await pass();
    client.stream.fail();
    await pass(BACKOFF_CAP_MS);
    expect(since(client)).toEqual([undefined, 2n]);
    expect(client.called("listAccounts")).toHaveLength(1);
    say();
    await pass();
    expect(store.state().topics.get("topic-plan")?.messageCount).toBe(4);
    store.dispose();
  });

  it("C5 an error is told to the funnel, and the stream goes on", async () => {
    const { client, say } = planned();
    const { store, pass, errors } = await testStore(client);
    say();
    await pass();
    client.stream.fail(new Failure("internal", "odd"));
    await pass(0);
    expect(errors).toHaveLength(1);
    expect(store.connection()).toMatchObject({ kind: "lost" });
    await pass(BACKOFF_CAP_MS);
    expect(store.connection()).toEqual({ kind: "live" });
    store.dispose();
  });

  it("C6 the end of the store ends the stream, and a wait for the next try", async () => {
    const { client } = planned();
    const first = await testStore(client);
    first.store.dispose();
    await settle();
    expect(client.stream.closed).toBe(true);
    const second = await testStore(client);
    client.stream.fail();
    await second.pass(0);
    const tries = client.streams.length;
    second.store.dispose();
    await second.pass(BACKOFF_CAP_MS * 10);
    expect(client.streams).toHaveLength(tries);
    expect(second.world.waiting).toBe(0);
  });

  it("C9 a frame that tells nothing moves the place on", async () => {
    const { client, server } = planned();
    const { store, pass } = await testStore(client);
    server.tell({ kind: "other" });
    await pass();
    client.stream.fail();
    await pass(BACKOFF_CAP_MS);
    expect(since(client)).toEqual([undefined, 1n]);
    store.dispose();
  });

  it("C10 a close without events backs off, longer each time; one after events does not", async () => {
    const { client, say } = planned();
    const { store, pass } = await testStore(client);
    say();
    await pass();
    client.stream.close();
    await pass(0);
    expect(client.streams).toHaveLength(2);
    await closedAgain(client, pass, [BACKOFF_BASE_MS, 2 * BACKOFF_BASE_MS, 4 * BACKOFF_BASE_MS]);
    store.dispose();
  });

  it("C10 a boundary is no progress", async () => {
    const { client } = planned();
    const { store, pass } = await testStore(client);
    await closedAgain(client, pass, [BACKOFF_BASE_MS, 2 * BACKOFF_BASE_MS]);
    store.dispose();
  });

  it("waits with full jitter, doubled and capped", () => {
    expect(backoff(0, () => 1)).toBe(500);
    expect(backoff(3, () => 1)).toBe(4_000);
    expect(backoff(50, () => 1)).toBe(30_000);
    expect(backoff(50, () => 0)).toBe(0);
    expect(backoff(2, () => 0.25)).toBe(500);
  });

  it("is tried again at once when somebody asks, or the network is back", async () => {
    const { client } = planned();
    let wake: () => void = () => undefined;
    const { store, pass } = await testStore(client, { onNetwork: (then) => { wake = then; return () => undefined; } });
    for (const hurry of [() => store.reconnect(), () => wake()]) {
      client.stream.fail();
      await pass(0);
      expect(store.connection()).toMatchObject({ kind: "lost" });
      hurry();
      await pass(0);
      expect(store.connection()).toEqual({ kind: "live" });
    }
    store.dispose();
  });

  it("stops when the session is over, and starts again when asked to", async () => {
    const { client } = planned();
    const { store, pass } = await testStore(client);
    client.stream.fail(new Failure("signed_out", "no"));
    await pass(BACKOFF_CAP_MS * 4);
    expect(store.connection()).toEqual({ kind: "signed_out" });
    expect(client.streams).toHaveLength(1);
    expect(store.state().ready).toBe(true);
    store.reconnect();
    await pass();
    expect(store.connection()).toEqual({ kind: "live" });
    store.dispose();
  });

  it("that gives no sign of life is asked, and given up if there is no answer, sooner while somebody looks", async () => {
    for (const [watched, { silence, answer }] of [[true, WATCHED_PATIENCE], [false, PATIENCE]] as const) {
      const { client, say } = planned();
      const { store, pass, world: clock } = await testStore(client);
      clock.watched = watched;
      say();
      await pass(silence);
      expect(client.called("serverInfo")).toHaveLength(2);
      expect(client.streams).toHaveLength(1);
      client.hold("serverInfo");
      const asked = clock.now() + silence;
      await pass(silence + answer - 1);
      expect(store.connection().kind).toBe("live");
      await pass(1);
      // It is lost since it owed an answer.
      expect(store.connection()).toMatchObject({ kind: "lost", since: asked });
      await pass(BACKOFF_CAP_MS);
      expect(since(client)).toEqual([undefined, 1n]);
      expect(store.connection()).toEqual({ kind: "live" });
      store.dispose();
    }
  });

  it("that does not begin, though what was asked long after it is answered, is given up and asked for again until it does", async () => {
    const { client } = planned();
    const begins = client.subscribe.bind(client);
    const held: FakeStream[] = [];
    client.subscribe = (from, signal) => {
      const stream = new FakeStream(from, signal);
      held.push(stream);
      return stream;
    };
    const { store, pass, world: clock } = await testStore(client, { wait: false });
    const asked = clock.now();
    // Somebody is in a hurry, which is no reason to take it for held up.
    await pass(WATCHED_PATIENCE.silence / 2);
    store.reconnect();
    await pass(WATCHED_PATIENCE.silence / 2 - 1);
    expect([store.connection().kind, held.length]).toEqual(["connecting", 1]);
    await pass(1);
    expect(store.connection()).toMatchObject({ kind: "lost", since: asked });
    client.subscribe = begins;
    await pass(BACKOFF_BASE_MS);
    await pass();
    expect([held[0]?.closed, store.connection().kind, store.state().ready]).toEqual([true, "live", true]);
    store.dispose();
  });

  it("is not asked while everything is read: the answer would wait behind the reads, which have a limit of their own", async () => {
    const { client } = planned();
    const held = client.hold("listTopics");
    const { store, pass } = await testStore(client, { wait: false });
    await pass(2 * PATIENCE.silence);
    expect(client.called("serverInfo")).toHaveLength(1);
    held.release();
    await pass(WATCHED_PATIENCE.silence);
    expect(client.called("serverInfo")).toHaveLength(2);
    expect(store.connection()).toEqual({ kind: "live" });
    store.dispose();
  });

  it("is lost at once when the browser goes offline, and there at once when it comes back, or if the server is near", async () => {
    const { client, say } = planned();
    let [wake, offline]: [() => void, () => void] = [() => undefined, () => undefined];
    const { store, pass } = await testStore(client, { onNetwork: (back, gone) => { [wake, offline] = [back, gone]; return () => undefined; } });
    say();
    await pass();
    offline();
    await pass(0);
    expect(store.connection()).toMatchObject({ kind: "lost" });
    wake();
    await pass(0);
    expect(since(client)).toEqual([undefined, 1n]);
    expect(store.connection()).toEqual({ kind: "live" });
    offline();
    await pass(2 * BACKOFF_BASE_MS);
    expect(store.connection()).toEqual({ kind: "live" });
    const held = client.hold("listTopics");
    client.stream.push(client.resync());
    await pass();
    offline();
    // A read of the wire ends with its signal.
    held.release();
    await pass(0);
    expect(store.connection()).toMatchObject({ kind: "lost" });
    wake();
    await pass();
    expect(store.connection()).toEqual({ kind: "live" });
    // Nothing stands any more that could be given up.
    client.stream.fail();
    await pass(0);
    offline();
    expect(store.connection()).toMatchObject({ kind: "lost" });
    store.dispose();
  });
});

describe("what comes besides", () => {
  it("another version of the server is told once it is there", async () => {
    const { client } = planned();
    const { store, pass } = await testStore(client);
    expect(store.newVersion()).toBeUndefined();
    client.version = "1.1.0";
    client.stream.fail();
    await pass(BACKOFF_CAP_MS);
    expect(store.newVersion()).toBe("1.1.0");
    store.dispose();
  });

  it("frames that arrive together are published together, and under load not more than twenty times a second", async () => {
    const clock = new FakeWorld();
    let published = 0;
    const batch = new Batch(() => (published += 1), clock);
    for (let count = 0; count < 100; count += 1) batch.changed();
    expect(published).toBe(0);
    await settle();
    expect(published).toBe(1);
    for (let count = 0; count < 50; count += 1) {
      batch.changed();
      await clock.pass(20);
    }
    expect(published).toBeLessThanOrEqual(1 + 1_000 / EVERY_MS);
    expect(published).toBeGreaterThan(15);
  });

  it("a pump hands over what came before the failure, then the failure", async () => {
    const over = new AbortController();
    const pump = new Pump(async function* () { yield 1; await Promise.resolve(); yield 2; throw new Failure("unavailable", "gone"); }, over.signal);
    expect(await pump.wait()).toBe(1);
    await settle();
    expect(pump.take()).toBe(2);
    expect(pump.take()).toBeUndefined();
    await expect(pump.wait()).rejects.toThrow("gone");
  });
});
