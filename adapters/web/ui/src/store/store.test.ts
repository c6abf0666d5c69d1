import { createRoot } from "solid-js";
import { describe, expect, it } from "vitest";
import { Failure } from "../model/client";
import { BACKOFF_BASE_MS } from "../sync/run";
import { message } from "../testing/builders";
import { ann, bot, planned } from "../testing/planned";
import { settle, testStore } from "../testing/store";
import { TICK_MS } from "./store";

/** The agent has asked in message 1 and said something in message 2. */
const world = (options?: Parameters<typeof planned>[0]) => {
  const made = planned(options);
  made.say();
  return made;
};

describe("the store", () => {
  it("shows what there is after the first snapshot, and what comes", async () => {
    const { client, server, plan } = world();
    const { store, pass } = await testStore(client);
    expect(store.connection()).toEqual({ kind: "live" });
    expect([...store.state().openAsks.keys()]).toEqual(["a"]);
    expect(store.state().topics.get("topic-plan")).toMatchObject({ messageCount: 2, openAsks: 1 });
    expect(store.state().positions.get("topic-plan")?.unread).toBe(2);
    server.post(plan.id, { kind: "id", id: "topic-plan" }, [{ kind: "text", text: "more" }], bot.id);
    await pass();
    expect(store.state().topics.get("topic-plan")?.messageCount).toBe(3);
    expect(store.state().positions.get("topic-plan")?.unread).toBe(3);
    store.dispose();
  });

  it("ends with its owner", async () => {
    const { client } = world();
    const opened = createRoot((dispose) => ({ dispose, test: testStore(client, { wait: false }) }));
    const { pass } = await opened.test;
    await pass();
    opened.dispose();
    await settle();
    expect(client.stream.closed).toBe(true);
  });
});

describe("what a person does", () => {
  it("C34 a post inserts nothing; the echo shows it once, and what has a key of its own is another", async () => {
    const { client, server, plan } = world();
    const { store, pass } = await testStore(client);
    store.openTopic(plan.id, "topic-plan");
    await pass();
    const held = client.hold("post");
    let carried = 0;
    const deliver = client.deliver.bind(client);
    client.deliver = () => 0;
    const first = store.post(plan.id, { kind: "id", id: "topic-plan" }, [{ kind: "text", text: "mine" }], "k1");
    await pass();
    const texts = () => store.state().windows.get("topic-plan")?.messages.filter((each) => each.blocks.some((block) => block.kind === "text" && block.text === "mine")).length;
    expect(texts()).toBe(0);
    client.deliver = deliver;
    carried = client.deliver();
    held.release();
    await first;
    await pass();
    expect(carried).toBe(1);
    expect(texts()).toBe(1);
    expect(store.state().positions.get("topic-plan")?.unread).toBe(2);
    await store.post(plan.id, { kind: "id", id: "topic-plan" }, [{ kind: "text", text: "mine" }], "k2");
    const keys = client.called("post").map((call) => JSON.stringify(call.input));
    expect(new Set(keys).size).toBe(2);
    expect(server.inTopic("topic-plan")).toHaveLength(4);
    store.dispose();
  });

  it("C34 a post whose reply was lost is stored once however often it is sent under its key", async () => {
    const { client, server, plan } = world();
    const { store, pass } = await testStore(client);
    const post = (key: string) => store.post(plan.id, { kind: "id", id: "topic-plan" }, [{ kind: "text", text: "ok" }], key);
    for (const kind of ["unknown", "unavailable"] as const) {
      const held = client.hold("post");
      const sent = post("k1");
      await pass();
      held.fail(new Failure(kind, "the reply was lost"));
      await expect(sent).rejects.toMatchObject({ kind });
    }
    await post("k1");
    await post("k2");
    expect(server.inTopic("topic-plan").filter((message) => JSON.stringify(message.blocks).includes('"ok"'))).toHaveLength(2);
    store.dispose();
  });

  it("C34 a refused post reaches its caller and the funnel", async () => {
    const { client, plan } = world();
    const { store, errors } = await testStore(client);
    client.failNext("post", new Failure("invalid", "too long"));
    await expect(store.post(plan.id, { kind: "name", name: "x" }, [{ kind: "text", text: "y" }], "k")).rejects.toMatchObject({ kind: "invalid", message: "too long" });
    expect(errors.map(({ where }) => where)).toEqual(["post"]);
    store.dispose();
  });

  it("drafts are kept over a reload, by place and person", async () => {
    const { client } = world();
    const first = await testStore(client);
    first.store.drafts.write("topic-plan", "half a sen");
    first.store.drafts.write("topic-other", "x");
    first.store.drafts.write("topic-other", "");
    first.store.dispose();
    const again = await testStore(client, { session: first.session });
    expect(again.store.drafts.read("topic-plan")).toBe("half a sen");
    expect(again.store.drafts.read("topic-other")).toBe("");
    const other = await testStore(client, { session: first.session, me: "user-ben" });
    expect(other.store.drafts.read("topic-plan")).toBe("");
  });

  it("what a tab keeps of a person is removed when they leave, and nothing is kept afterwards", async () => {
    const { client } = world();
    const { store, session, pass } = await testStore(client);
    store.drafts.write("topic-plan", "half a sen");
    store.asks.type("message-1", "a", "q1", "half an ans");
    await pass();
    expect(JSON.stringify([...session.items])).toMatch(/half a sen.*half an ans|half an ans.*half a sen/);
    store.forget();
    expect([...session.items]).toEqual([]);
    store.drafts.write("topic-plan", "half a sente");
    store.asks.type("message-1", "a", "q1", "half an answ");
    await pass();
    expect([...session.items]).toEqual([]);
    store.dispose();
  });

  it("C44 a stop that is refused is kept and told, the next try clears it, and it never throws", async () => {
    const { client } = world();
    client.sessionList = [{ sessionId: "s", state: "working", agentId: bot.id }];
    const { store, pass, errors } = await testStore(client);
    client.failNext("stopSession", new Failure("not_allowed", "only its owner"));
    await store.stopSession("s");
    await pass();
    expect(store.refusals().get("s")).toBe("only its owner");
    expect(errors.map(({ where }) => where)).toEqual(["stop"]);
    const held = client.hold("stopSession");
    const again = store.stopSession("s");
    await pass();
    expect(store.refusals().size).toBe(0);
    held.release();
    await again;
    expect(client.sessionList[0]?.state).toBe("stopped");
    store.dispose();
  });

  it("marks what was read forward only and once, and shows what the stream tells", async () => {
    const { client } = world();
    const { store, pass } = await testStore(client);
    for (const seq of [1, 2, 2, 1]) store.markRead("topic-plan", seq);
    await pass();
    expect(client.called("markRead").map((call) => call.input)).toEqual([["topic-plan", 1], ["topic-plan", 2]]);
    expect(store.state().positions.get("topic-plan")).toMatchObject({ seq: 2, unread: 0 });
    store.markRead("topic-plan", 2);
    expect(client.called("markRead")).toHaveLength(2);
    store.dispose();
  });

  it("marks again what got no answer, and says nothing of it; a refusal is told", async () => {
    const { client } = world();
    const { store, pass } = await testStore(client);
    client.failNext("markRead");
    store.markRead("topic-plan", 2);
    await pass();
    expect(store.problems()).toEqual([]);
    expect(store.state().positions.get("topic-plan")?.seq ?? 0).toBe(0);
    await pass(TICK_MS);
    expect(store.state().positions.get("topic-plan")?.seq).toBe(2);
    await pass(TICK_MS);
    expect(client.called("markRead")).toHaveLength(2);
    store.dispose();
    const other = await testStore(client);
    client.failNext("markRead", new Failure("not_allowed", "no"));
    other.store.markRead("topic-plan", 3);
    await other.pass(TICK_MS);
    expect(other.store.problems()).toHaveLength(1);
    expect(client.called("markRead")).toHaveLength(3);
    other.store.dispose();
  });

  it("marks again once the connection is live", async () => {
    const { client } = world();
    const { store, pass } = await testStore(client);
    client.stream.fail();
    await pass(0);
    client.failNext("markRead");
    store.markRead("topic-plan", 2);
    await pass(BACKOFF_BASE_MS);
    await pass();
    expect(store.state().positions.get("topic-plan")?.seq).toBe(2);
    store.dispose();
  });

  it("opens a topic once, reads older pages until there is none, and says what failed", async () => {
    const { client, server, plan } = world();
    for (let seq = 3; seq < 8; seq += 1) server.seedMessage(plan.id, message(seq, "x"));
    client.pageSize = 3;
    const { store, pass } = await testStore(client);
    const window = () => store.state().windows.get("topic-plan");
    client.failNext("listMessages", new Failure("unavailable", "away"));
    store.openTopic(plan.id, "topic-plan");
    await pass();
    expect(window()).toMatchObject({ loading: "none", error: "away" });
    store.openTopic(plan.id, "topic-plan");
    store.openTopic(plan.id, "topic-plan");
    await pass();
    expect(window()).toMatchObject({ complete: false, error: undefined });
    for (let page = 0; page < 4; page += 1) {
      store.loadOlder("topic-plan");
      store.loadOlder("topic-plan");
      await pass();
    }
    expect(window()?.messages.map((each) => each.seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(window()?.complete).toBe(true);
    expect(client.called("listMessages")).toHaveLength(5);
    store.loadOlder("topic-plan");
    expect(client.called("listMessages")).toHaveLength(5);
    store.dispose();
  });

  it("what is told while the newest page is on its way is no topic of its own: a page that fails is read again, and nothing is missing then", async () => {
    const { client, server, plan } = world();
    const { store, pass } = await testStore(client);
    const window = () => store.state().windows.get("topic-plan");
    const seqs = () => window()?.messages.map((each) => each.seq);
    const held = client.hold("listMessages");
    store.openTopic(plan.id, "topic-plan");
    await pass();
    server.post(plan.id, { kind: "id", id: "topic-plan" }, [{ kind: "text", text: "now" }], bot.id);
    await pass();
    expect([seqs(), window()?.gapless]).toEqual([[3], false]);
    held.fail(new Failure("unavailable", "away"));
    await pass();
    store.loadOlder("topic-plan");
    await pass();
    expect([window()?.gapless, window()?.error, client.called("listMessages").length]).toEqual([false, "away", 1]);
    const again = client.hold("listMessages");
    store.openTopic(plan.id, "topic-plan");
    await pass();
    expect([seqs(), window()?.loading, window()?.error]).toEqual([[3], "newest", undefined]);
    again.release();
    await pass();
    expect([seqs(), window()?.gapless]).toEqual([[1, 2, 3], true]);
    store.dispose();
  });

  it("C42 a topic that is asked for before anything is there is opened when it appears", async () => {
    const { client, plan } = world();
    const { store, pass } = await testStore(client, { wait: false });
    store.openTopic(plan.id, "topic-plan");
    expect(client.called("listMessages")).toHaveLength(0);
    await pass();
    await pass();
    expect(store.state().windows.get("topic-plan")?.messages).toHaveLength(2);
    store.dispose();
  });

  it("drops a page that was asked for before everything was read anew", async () => {
    const { server, plan, client } = world({ auto: false });
    client.pageSize = 1;
    const { store, pass } = await testStore(client);
    // The server knows already that the person takes no part, and answers with nothing.
    server.setMembers(plan.id, [bot.id]);
    const held = client.hold("listMessages");
    store.openTopic(plan.id, "topic-plan");
    await pass();
    server.setMembers(plan.id, [ann.id, bot.id]);
    client.stream.push(client.resync());
    await pass();
    held.release();
    await pass();
    expect(store.state().windows.get("topic-plan")).toMatchObject({ messages: [{ seq: 2 }], complete: false, loading: "none" });
    store.dispose();
  });

  it("shows at most five problems, each once, and none that has a place of its own", async () => {
    const { client } = world();
    const { store, pass } = await testStore(client);
    for (const text of ["1", "2", "2", "3", "4", "5", "6"]) store.report("read", new Failure("internal", text));
    store.report("ask", new Failure("already", "x"));
    store.report("stream", new Failure("unavailable", "x"));
    await pass();
    expect(store.problems().map((problem) => problem.text.at(-1))).toEqual(["2", "3", "4", "5", "6"]);
    store.dismissProblem(store.problems()[0]?.id ?? -1);
    await pass();
    expect(store.problems()).toHaveLength(4);
    store.dispose();
  });

  it("tells the server's time, and moves it on", async () => {
    const { client, server, plan } = world();
    server.at = 90_000_000;
    const { store, pass } = await testStore(client);
    server.post(plan.id, { kind: "id", id: "topic-plan" }, [{ kind: "text", text: "x" }], bot.id);
    await pass();
    expect(store.now()).toBeGreaterThanOrEqual(90_000_000);
    const before = store.now();
    await pass(15_000);
    expect(store.now()).toBeGreaterThan(before);
    store.dispose();
  });
});
