/** Messages whose outcome is not known, over a whole store: sent again in their order, stored once, never lost. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Failure } from "../model/client";
import { askById, inbox } from "../model/select";
import { channel, person, topic } from "../testing/builders";
import { FakeClient } from "../testing/fake";
import type { FakeOptions } from "../testing/fake";
import { FakeServer } from "../testing/server";
import { settle, testStore } from "../testing/store";
import type { TestStore } from "../testing/store";
import { formOf, keptForm, newQuestion, toAsk } from "./ask-form";
import { isRecord } from "./kept";
import { AGAIN_AFTER_MS, TRIES } from "./outbox";
import { askDraft, messageDraft } from "./drafts";

type Words = Parameters<TestStore["store"]["outbox"]["send"]>[0];

const ann = person("ann");
const plan = channel("plan", [ann]);
const [one, two] = [topic("one", plan.id), topic("two", plan.id)];
const message = (text: string, topicId: string = one.id) => ({ kind: "message" as const, channelId: plan.id, topicId, text });
const lost = new Failure("unknown", "the connection broke");

const world = async (options: FakeOptions = {}) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const server = new FakeServer(ann).seed(plan, one, two);
  return { ...(await testStore(new FakeClient(server, options))), server };
};
type World = Awaited<ReturnType<typeof world>>;

const later = async (test: TestStore) => {
  vi.advanceTimersByTime(AGAIN_AFTER_MS);
  await settle();
  await test.pass();
};
const texts = ({ server }: Pick<World, "server">, topicId: string) => server.inTopic(topicId).flatMap((each) => each.blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])));
/** Stored, and the reply is lost. */
const loseReply = async (test: World, words: Words) => {
  const { post } = test.client;
  test.client.post = async (input) => {
    await post.call(test.client, input);
    throw lost;
  };
  test.store.outbox.send(words);
  await test.pass();
  test.client.post = post;
};

describe("C34 the outbox", () => {
  it("sends again under the same key: what was stored is not stored twice", async () => {
    const test = await world();
    await loseReply(test, message("hello"));
    expect(test.store.outbox.of(plan.id, one.id)).toMatchObject([{ text: "hello", status: "unknown" }]);
    await later(test);
    expect(test.store.outbox.of(plan.id, one.id)).toEqual([]);
    expect(texts(test, one.id)).toEqual(["hello"]);
  });
  it("posts under a key of the store's world", async () => {
    const test = await world();
    vi.spyOn(test.world, "newKey").mockReturnValueOnce("k1").mockReturnValueOnce("k2");
    for (const text of ["hello", "again"]) test.store.outbox.send(message(text));
    await test.pass();
    expect(test.client.called("post").map(({ input }) => input)).toMatchObject([[{ requestId: "k1" }], [{ requestId: "k2" }]]);
  });
  it("outlives a reload with its key", async () => {
    const test = await world();
    await loseReply(test, message("hello"));
    test.store.dispose();
    const again = { ...(await testStore(test.client, { session: test.session })), server: test.server };
    expect(again.store.outbox.of(plan.id, one.id)).toMatchObject([{ text: "hello", status: "unknown" }]);
    const [waiting] = again.store.outbox.of(plan.id, one.id);
    await settle();
    await later(again);
    expect(again.client.called("post").at(-1)?.input).toMatchObject([{ requestId: waiting?.key }]);
    expect(again.store.outbox.of(plan.id, one.id)).toEqual([]);
    expect(texts(test, one.id)).toEqual(["hello"]);
  });
  it("keeps what is on its way over a reload, too", async () => {
    const test = await world();
    test.client.hold("post");
    test.store.outbox.send(message("hello"));
    await test.pass();
    test.store.dispose();
    const again = await testStore(test.client, { session: test.session });
    expect(again.store.outbox.of(plan.id, one.id)).toMatchObject([{ text: "hello", status: "unknown" }]);
  });
  it("gives a refused message back to an empty field, and keeps it where something else is written", async () => {
    const test = await world();
    const { outbox } = test.store;
    test.client.failNext("post", new Failure("invalid", "no"));
    outbox.send(message("hello"));
    await test.pass();
    expect(test.store.drafts.read(messageDraft(one.id))).toBe("hello");
    expect(outbox.refusal(messageDraft(one.id))).toBe("no");
    expect(outbox.of(plan.id, one.id)).toEqual([]);
    test.client.failNext("post", new Failure("invalid", "no"));
    outbox.send(message("again"));
    await test.pass();
    expect(test.store.drafts.read(messageDraft(one.id))).toBe("hello");
    expect(outbox.of(plan.id, one.id)).toMatchObject([{ text: "again", status: "refused", said: "no" }]);
  });
  it("a draft and what is not known to be stored go along when their topic is joined to another", async () => {
    const test = await world();
    const { outbox } = test.store;
    await loseReply(test, message("hello"));
    test.store.drafts.write(messageDraft(one.id), "half a sen");
    test.store.drafts.write(messageDraft(two.id), "mine");
    test.server.tell({ kind: "topic_merged", fromId: one.id, into: two });
    await test.pass();
    expect(test.store.drafts.read(messageDraft(one.id))).toBe("");
    expect(test.store.drafts.read(messageDraft(two.id))).toBe("half a sen\n\nmine");
    expect(outbox.of(plan.id, two.id)).toMatchObject([{ text: "hello", topicId: two.id }]);
    await later(test);
    expect(outbox.of(plan.id, two.id)).toEqual([]);
    expect([...texts(test, one.id), ...texts(test, two.id)]).toEqual(["hello"]);
  });
  it("what its topic's end left to the channel stays in sight: refused, and taken back to be written anew", async () => {
    const test = await world();
    const { outbox } = test.store;
    test.client.failNext("post", new Failure("not_found", "there is no such topic"));
    outbox.send(message("hello", "gone"));
    await test.pass();
    const [refused] = outbox.of(plan.id, one.id);
    expect(refused).toMatchObject({ text: "hello", status: "refused", said: "there is no such topic" });
    outbox.edit(refused?.key ?? "", one.id);
    await test.pass();
    expect(outbox.of(plan.id, one.id)).toEqual([]);
    expect(test.store.drafts.read(messageDraft(one.id))).toBe("hello");
  });
  it("begins with the store, whatever is looked at, and ends with it", async () => {
    const test = await world();
    await loseReply(test, message("hello"));
    const posts = () => test.client.called("post").length;
    const before = posts();
    test.store.dispose();
    await later(test);
    expect(posts()).toBe(before);
    const again = { ...(await testStore(test.client, { session: test.session })), server: test.server };
    await settle();
    await later(again);
    expect(posts()).toBe(before + 1);
    expect(again.session.items.size).toBe(0);
  });
  it("what is answered after the end of the store changes nothing that is kept", async () => {
    const test = await world();
    const held = test.client.hold("post");
    test.store.outbox.send(message("hello"));
    await test.pass();
    test.store.dispose();
    const kept = [...test.session.items];
    held.release();
    await test.pass();
    expect([...test.session.items]).toEqual(kept);
    expect(kept).not.toEqual([]);
  });
});

describe("C34 what the stream tells is stored, whatever becomes of the reply", () => {
  const unsent = (test: World) => test.store.outbox.of(plan.id, one.id).map(({ text }) => text);
  const reading = async (options: FakeOptions = {}) => {
    const test = await world(options);
    test.store.openTopic(plan.id, one.id);
    await test.pass();
    return test;
  };
  const posts = (test: World) => test.client.called("post").length;

  it("leaves the list at once and is not sent again, and what waits for it goes on though its reply hangs", async () => {
    const test = await reading();
    await loseReply(test, message(" hello "));
    await later(test);
    expect([unsent(test), posts(test)]).toEqual([[], 1]);
    const stored = vi.fn();
    test.client.hold("post");
    test.store.outbox.send(message("one"), stored);
    test.store.outbox.send(message("two"));
    await test.pass();
    expect([unsent(test), texts(test, one.id)]).toEqual([[], ["hello", "one", "two"]]);
    expect(stored).toHaveBeenCalledOnce();
  });
  it("is not taken for what was there before, what another says, what is said elsewhere, or what says more", async () => {
    const test = await reading();
    const bob = person("bob");
    const say = (blocks: readonly string[], topicId: string, by: string) => test.server.post(plan.id, { kind: "id", id: topicId }, blocks.map((text) => ({ kind: "text" as const, text })), by);
    say(["ok"], one.id, ann.id);
    await test.pass();
    test.client.failNext("post", lost);
    test.store.outbox.send(message("ok"));
    await test.pass();
    say(["ok"], one.id, bob.id);
    say(["ok"], two.id, ann.id);
    say(["ok", "then"], one.id, ann.id);
    await test.pass();
    expect(unsent(test)).toEqual(["ok"]);
  });
  it("is one thing only: what the reply to another told is not taken for it", async () => {
    const test = await reading({ auto: false });
    test.store.outbox.send(message("ok"));
    await test.pass();
    test.client.failNext("post", lost);
    test.store.outbox.send(message("ok"));
    await test.pass();
    test.client.deliver();
    await test.pass();
    expect(unsent(test)).toEqual(["ok"]);
  });
  it("an ask is known by all that it asks, over a reload too", async () => {
    const test = await world({ auto: false });
    const of = (label: string) => keptForm({ questions: [{ ...newQuestion(), question: "Now?", recommended: 0, options: [{ label, description: "d", preview: "p" }] }] });
    await loseReply(test, { ...message(of("yes")), kind: "ask" });
    test.client.failNext("post", lost);
    test.store.outbox.send({ ...message(of("no"), two.id), kind: "ask" });
    await test.pass();
    for (const [topicId, label] of [[two.id, "yes"], [one.id, "no"]] as const) test.server.post(plan.id, { kind: "id", id: topicId }, [{ kind: "ask", ask: toAsk(formOf(of(label))) }]);
    test.store.dispose();
    const again = { ...(await testStore(test.client, { session: test.session })), server: test.server };
    expect(again.store.outbox.of(plan.id, two.id)).toMatchObject([{ text: of("no") }]);
    expect([again.store.outbox.of(plan.id, one.id), posts(test)]).toEqual([[], 2]);
  });
});

describe("an ask that was posted", () => {
  const ask = (question: string, topicId: string = one.id): Words => ({ kind: "ask", channelId: plan.id, topicId, text: keptForm({ questions: [{ ...newQuestion(), question }] }) });
  const asked = ({ server }: Pick<World, "server">) => [...server.messages.values()].flatMap(({ blocks }) => blocks.flatMap((block) => (block.kind === "ask" ? [block.ask.questions[0]?.question] : [])));
  /** It never got there, which the page cannot know. */
  const loseCall = async (test: World, words: Words) => {
    test.client.failNext("post", lost);
    test.store.outbox.send(words);
    await test.pass();
  };
  const keys = ({ client }: Pick<World, "client">) => client.called("post").map(({ input }) => input).flatMap((each) => each.flatMap((of) => (isRecord(of) ? [of["requestId"]] : [])));

  it("and whose reply was lost is posted again under its key, over a reload too, and is stored once", async () => {
    const test = await world();
    await loseCall(test, ask("Now?"));
    test.store.outbox.send(ask("Later?"));
    test.store.dispose();
    const again = { ...(await testStore(test.client, { session: test.session })), server: test.server };
    const [, next] = again.store.outbox.of(plan.id, one.id);
    expect(again.store.outbox.of(plan.id, one.id)).toMatchObject([{ kind: "ask", status: "unknown" }, { status: "waiting" }]);
    again.store.outbox.discard(next?.key ?? "");
    await settle();
    await later(again);
    expect(new Set(keys(test)).size).toBe(1);
    expect(keys(test)).toHaveLength(2);
    expect(again.store.outbox.of(plan.id, one.id)).toEqual([]);
    expect(asked(test)).toEqual(["Now?"]);
  });
  it("is not written anew while it may have been kept, and the next one waits until that is known", async () => {
    const test = await world();
    const { outbox } = test.store;
    await loseCall(test, ask("Now?"));
    const [first] = outbox.of(plan.id, one.id);
    outbox.edit(first?.key ?? "");
    outbox.send(ask("Now or never?"));
    outbox.send(message("hello"));
    await test.pass();
    expect(test.store.drafts.read(askDraft(one.id))).toBe("");
    expect(outbox.of(plan.id, one.id).map(({ status }) => status)).toEqual(["unknown", "waiting"]);
    expect([asked(test), texts(test, one.id)]).toEqual([[], ["hello"]]);
    const [, next] = outbox.of(plan.id, one.id);
    outbox.edit(next?.key ?? "");
    expect(test.store.drafts.read(askDraft(one.id))).toContain("Now or never?");
    await later(test);
    expect(outbox.of(plan.id, one.id)).toEqual([]);
    expect(asked(test)).toEqual(["Now?"]);
  });
  it("and is refused later on may still have been kept before", async () => {
    const test = await world();
    await loseCall(test, ask("Now?"));
    test.client.failNext("post", new Failure("not_found", "channel not found"));
    await later(test);
    expect(test.store.outbox.of(plan.id, one.id)).toMatchObject([{ status: "unknown", said: "channel not found" }]);
    expect(test.store.drafts.read(askDraft(one.id))).toBe("");
  });
  it("and is refused for good from then on does not hold up the next one once it is taken off the list", async () => {
    const test = await world();
    const { outbox } = test.store;
    await loseCall(test, ask("Now?"));
    outbox.send(ask("Later?"));
    test.client.failNext("post", new Failure("not_allowed", "only the owner writes here"));
    await later(test);
    const [first] = outbox.of(plan.id, one.id);
    expect(outbox.of(plan.id, one.id)).toMatchObject([{ status: "unknown", said: "only the owner writes here" }, { status: "waiting" }]);
    outbox.discard(first?.key ?? "");
    await test.pass();
    expect(outbox.of(plan.id, one.id)).toEqual([]);
    expect(asked(test)).toEqual(["Later?"]);
    // Two asks could come of it.
    expect(test.store.drafts.read(askDraft(one.id))).toBe("");
    await later(test);
    expect(test.client.called("post")).toHaveLength(3);
  });
  it("and was taken off the list is an ask as any once the stream tells of it", async () => {
    const test = await world({ auto: false });
    await loseReply(test, ask("Now?"));
    const [first] = test.store.outbox.of(plan.id, one.id);
    test.store.outbox.discard(first?.key ?? "");
    await test.pass();
    expect(test.store.state().openAsks.size).toBe(0);
    test.client.deliver();
    await test.pass();
    const [entry] = inbox(test.store.state());
    const [messageId, askId] = [entry?.message.id ?? "", entry?.ask.id ?? ""];
    test.store.asks.type(messageId, askId, entry?.ask.questions[0]?.id ?? "", "Yes");
    test.store.asks.submit(messageId, askId);
    await test.pass();
    test.client.deliver();
    await test.pass();
    expect(askById(test.store.state(), askId)?.ask).toMatchObject({ questions: [{ question: "Now?", customText: "Yes" }], end: { kind: "answered", by: ann.id } });
    expect(test.store.outbox.of(plan.id, one.id)).toEqual([]);
  });
  it("and is refused goes back to where it was written, or stays apart where another is begun", async () => {
    const test = await world();
    for (const question of ["Now?", "Later?"]) {
      test.client.failNext("post", new Failure("invalid", "no"));
      test.store.outbox.send(ask(question));
      await test.pass();
    }
    expect(test.store.drafts.read(askDraft(one.id))).toBe(ask("Now?").text);
    const [refused] = test.store.outbox.of(plan.id, one.id);
    expect(refused).toMatchObject({ text: ask("Later?").text, status: "refused" });
    test.store.outbox.edit(refused?.key ?? "");
    expect(formOf(test.store.drafts.read(askDraft(one.id))).questions.map(({ question }) => question)).toEqual(["Later?", "Now?"]);
  });
  it("is stored once though its topic was joined to another before that was known", async () => {
    const test = await world();
    await loseCall(test, ask("Now?"));
    test.server.tell({ kind: "topic_merged", fromId: one.id, into: two });
    await test.pass();
    expect(test.store.outbox.of(plan.id, two.id)).toMatchObject([{ kind: "ask", topicId: two.id }]);
    await later(test);
    expect(test.store.outbox.of(plan.id, two.id)).toEqual([]);
    expect(asked(test)).toEqual(["Now?"]);
  });
});

it("what is not sent again any more is, once its topic is joined to another", async () => {
  const test = await world();
  const posts = () => test.client.called("post").length;
  for (let tries = 0; tries <= TRIES; tries += 1) test.client.failNext("post", lost);
  test.store.outbox.send(message("hello"));
  for (let turn = 0; turn < 2 * TRIES; turn += 1) {
    vi.advanceTimersByTime(100 * AGAIN_AFTER_MS);
    await test.pass();
  }
  expect(posts()).toBe(1 + TRIES);
  test.server.tell({ kind: "topic_merged", fromId: one.id, into: two });
  await test.pass();
  await later(test);
  expect(posts()).toBe(2 + TRIES);
  expect(texts(test, two.id)).toEqual(["hello"]);
});

describe("a topic that was begun", () => {
  const begun = { kind: "topic", channelId: plan.id, name: "launch", text: "hello" } as const;
  const topics = ({ server }: Pick<World, "server">) => [...server.topics(plan.id, true)].filter(({ name }) => name === "launch").map(({ id }) => texts({ server }, id));

  it("and whose reply was lost is begun again under its key, over a reload too, and is there once", async () => {
    const test = await world();
    await loseReply(test, begun);
    test.store.dispose();
    const again = { ...(await testStore(test.client, { session: test.session })), server: test.server };
    expect(again.store.outbox.topicsOf(plan.id)).toMatchObject([{ name: "launch", text: "hello", status: "unknown" }]);
    await settle();
    await later(again);
    expect(again.store.outbox.topicsOf(plan.id)).toEqual([]);
    expect(topics(test)).toEqual([["hello"]]);
  });
});
