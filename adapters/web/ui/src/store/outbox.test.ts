/** Messages whose outcome is not known, over a whole store: sent again in their order, stored once, never lost. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Failure } from "../model/client";
import { channel, person, topic } from "../testing/builders";
import { FakeClient } from "../testing/fake";
import { FakeServer } from "../testing/server";
import { settle, testStore } from "../testing/store";
import type { TestStore } from "../testing/store";
import { AGAIN_AFTER_MS } from "./retry";
import { messageDraft } from "./written";

const ann = person("ann");
const plan = channel("plan", [ann]);
const [one, two] = [topic("one", plan.id), topic("two", plan.id)];
const lost = new Failure("unknown", "the connection broke");

const world = async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const server = new FakeServer(ann).seed(plan, one, two);
  return { ...(await testStore(new FakeClient(server))), server };
};
type World = Awaited<ReturnType<typeof world>>;

const later = async (test: TestStore) => {
  vi.advanceTimersByTime(AGAIN_AFTER_MS);
  await settle();
  await test.pass();
};
const texts = ({ server }: Pick<World, "server">, topicId: string) => server.inTopic(topicId).flatMap((each) => each.blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])));
/** Stored, and the reply is lost. */
const loseReply = async (test: World, text: string, topicId = one.id) => {
  const { post } = test.client;
  test.client.post = async (input) => {
    await post.call(test.client, input);
    throw lost;
  };
  test.store.outbox.send(plan.id, topicId, text);
  await test.pass();
  test.client.post = post;
};

describe("C34 the outbox", () => {
  it("sends again under the same key: what was stored is not stored twice", async () => {
    const test = await world();
    await loseReply(test, "hello");
    expect(test.store.outbox.of(plan.id, one.id)).toMatchObject([{ text: "hello", status: "unknown" }]);
    await later(test);
    expect(test.store.outbox.of(plan.id, one.id)).toEqual([]);
    expect(texts(test, one.id)).toEqual(["hello"]);
  });
  it("outlives a reload with its key", async () => {
    const test = await world();
    await loseReply(test, "hello");
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
    test.store.outbox.send(plan.id, one.id, "hello");
    await test.pass();
    test.store.dispose();
    const again = await testStore(test.client, { session: test.session });
    expect(again.store.outbox.of(plan.id, one.id)).toMatchObject([{ text: "hello", status: "unknown" }]);
  });
  it("gives a refused message back to an empty field, and keeps it where something else is written", async () => {
    const test = await world();
    const { outbox } = test.store;
    test.client.failNext("post", new Failure("invalid", "no"));
    outbox.send(plan.id, one.id, "hello");
    await test.pass();
    expect(test.store.draft(messageDraft(one.id))).toBe("hello");
    expect(outbox.refusal(one.id)).toBe("no");
    expect(outbox.of(plan.id, one.id)).toEqual([]);
    test.client.failNext("post", new Failure("invalid", "no"));
    outbox.send(plan.id, one.id, "again");
    await test.pass();
    expect(test.store.draft(messageDraft(one.id))).toBe("hello");
    expect(outbox.of(plan.id, one.id)).toMatchObject([{ text: "again", status: "refused", said: "no" }]);
  });
  it("a draft and what is not known to be stored go along when their topic is joined to another", async () => {
    const test = await world();
    const { outbox } = test.store;
    await loseReply(test, "hello");
    outbox.written.write(messageDraft(one.id), "half a sen");
    outbox.written.write(messageDraft(two.id), "mine");
    test.server.tell({ kind: "topic_merged", fromId: one.id, into: two });
    await test.pass();
    expect(outbox.written.read(messageDraft(one.id))).toBe("");
    expect(outbox.written.read(messageDraft(two.id))).toBe("half a sen\n\nmine");
    expect(outbox.of(plan.id, two.id)).toMatchObject([{ text: "hello", topicId: two.id }]);
    await later(test);
    expect(outbox.of(plan.id, two.id)).toEqual([]);
    expect([...texts(test, one.id), ...texts(test, two.id)]).toEqual(["hello"]);
  });
  it("what its topic's end left to the channel stays in sight: refused, and taken back to be written anew", async () => {
    const test = await world();
    const { outbox } = test.store;
    test.client.failNext("post", new Failure("not_found", "there is no such topic"));
    outbox.send(plan.id, "gone", "hello");
    await test.pass();
    const [refused] = outbox.of(plan.id, one.id);
    expect(refused).toMatchObject({ text: "hello", status: "refused", said: "there is no such topic" });
    outbox.edit(refused?.key ?? "", one.id);
    await test.pass();
    expect(outbox.of(plan.id, one.id)).toEqual([]);
    expect(outbox.written.read(messageDraft(one.id))).toBe("hello");
  });
  it("begins with the store, whatever is looked at, and ends with it", async () => {
    const test = await world();
    await loseReply(test, "hello");
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
    test.store.outbox.send(plan.id, one.id, "hello");
    await test.pass();
    test.store.dispose();
    const kept = [...test.session.items];
    held.release();
    await test.pass();
    expect([...test.session.items]).toEqual(kept);
    expect(kept).not.toEqual([]);
  });
});
