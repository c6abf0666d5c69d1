/** Who takes part where: what is told of it makes the page read it, and only what was read counts. */
import { describe, expect, it } from "vitest";
import { ask, asking, channel, group, message, topic } from "../testing/builders";
import { ann, bot, planned } from "../testing/planned";
import { testStore } from "../testing/store";
import { BACKOFF_CAP_MS } from "./run";

describe("who takes part where", () => {
  it("a gained channel is read anew, and what is told after it waits for that", async () => {
    const { client, server } = planned();
    const { store, pass } = await testStore(client);
    const other = channel("other", [bot]);
    server.seed(other, topic("there", other.id));
    server.seedMessage(other.id, message(1, [asking(ask("there"))], { id: "m", topicId: "topic-there", authorId: bot.id }));
    const held = client.hold("listTopics");
    server.setMembers(other.id, [bot.id, ann.id]);
    server.post(other.id, { kind: "id", id: "topic-there" }, [{ kind: "text", text: "later" }], bot.id);
    await pass();
    expect(store.state().topics.has("topic-there")).toBe(false);
    held.release();
    await pass();
    expect(store.state().topics.get("topic-there")).toMatchObject({ messageCount: 2, openAsks: 1 });
    expect([...store.state().openAsks.keys()].sort()).toEqual(["a", "there"]);
    expect(client.called("listAccounts")).toHaveLength(2);
    server.setMembers(other.id, [bot.id]);
    await pass();
    expect(store.state().topics.has("topic-there")).toBe(false);
    expect(store.state().openAsks.has("there")).toBe(false);
    store.dispose();
  });

  it("where topics went is read with them: at the start, after lost events, and of a channel that is gained, until it is lost", async () => {
    const { client, server, plan } = planned();
    const [more, other] = [topic("more", plan.id), channel("other", [bot])];
    server.seed(more, other, topic("there", other.id), topic("gone", other.id));
    server.updateTopic("topic-gone", { name: "there" });
    server.updateTopic(more.id, { name: "plan" });
    const { store, pass } = await testStore(client);
    expect(Object.fromEntries(store.state().merged)).toEqual({ [more.id]: "topic-plan" });
    server.setMembers(other.id, [bot.id, ann.id]);
    await pass();
    expect(Object.fromEntries(store.state().merged)).toEqual({ [more.id]: "topic-plan", "topic-gone": "topic-there" });
    server.setMembers(other.id, [bot.id]);
    await pass();
    expect(Object.fromEntries(store.state().merged)).toEqual({ [more.id]: "topic-plan" });
    client.epoch += 1n;
    client.stream.fail();
    await pass(BACKOFF_CAP_MS);
    expect(store.connection()).toEqual({ kind: "live" });
    expect(Object.fromEntries(store.state().merged)).toEqual({ [more.id]: "topic-plan" });
    store.dispose();
  });

  it("a gained channel that cannot be read makes everything be read again", async () => {
    const { client, server } = planned();
    const { store, pass } = await testStore(client);
    const other = channel("other", [bot]);
    server.seed(other, topic("there", other.id));
    client.failNext("listTopics");
    server.setMembers(other.id, [bot.id, ann.id]);
    await pass(BACKOFF_CAP_MS);
    expect(client.streams.map((stream) => stream.since?.seq)).toEqual([undefined, undefined]);
    expect(store.state().topics.has("topic-there")).toBe(true);
    store.dispose();
  });

  it("C7 a channel that removed the caller is gone with all that is in it; one that everybody sees can be joined again", async () => {
    const { client, server, plan } = planned();
    const shared = group("all", bot.id);
    const seen = channel("seen", [ann, bot], { groupId: shared.id });
    server.seed(shared, seen, topic("seen", seen.id));
    server.seedMessage(seen.id, message(1, [asking(ask("b"))], { id: "m", topicId: "topic-seen", authorId: bot.id }));
    const { store, pass } = await testStore(client);
    store.openTopic(plan.id, "topic-plan");
    await pass();
    expect([...store.state().openAsks.keys()].sort()).toEqual(["a", "b"]);
    server.setMembers(plan.id, [bot.id]);
    server.setMembers(seen.id, [bot.id]);
    await pass();
    expect([...store.state().channels.keys()]).toEqual([seen.id]);
    for (const part of ["topics", "windows", "positions", "openAsks", "reach"] as const) expect(store.state()[part].size, part).toBe(0);
    store.dispose();
  });

  it("C7 news from before the snapshot take nothing away and give nothing: one read tells", async () => {
    const { client, server, plan } = planned();
    const left = channel("left", [bot]);
    server.seed(left, topic("left", left.id));
    // Twice out and in again, and twice in and out.
    for (const [id, members] of [[plan.id, [ann.id, bot.id]], [left.id, [bot.id]]] as const)
      for (let turn = 0; turn < 2; turn += 1) {
        server.setMembers(id, members.includes(ann.id) ? [bot.id] : [ann.id, bot.id]);
        server.setMembers(id, members);
      }
    server.putAccount({ ...bot, handle: "older" });
    server.putAccount(bot);
    const held = client.hold("listChannels");
    const again = client.hold("listChannels");
    const { store, pass } = await testStore(client, { wait: false });
    await pass();
    held.release();
    await pass();
    expect(store.state().ready).toBe(true);
    const isThere = () => [store.state().topics.has("topic-plan"), store.state().openAsks.has("a"), store.state().topics.has("topic-left")];
    expect(isThere()).toEqual([true, true, false]);
    again.release();
    await pass();
    expect(isThere()).toEqual([true, true, false]);
    expect(client.called("listChannels")).toHaveLength(2);
    expect(store.state().accounts.get(bot.id)).toEqual(bot);
    store.dispose();
  });

  it("C7 what was said while the person was out of a channel for a moment is read", async () => {
    const { client, server, plan, say } = planned({ auto: false });
    const { store, pass } = await testStore(client);
    store.openTopic(plan.id, "topic-plan");
    await pass();
    server.setMembers(plan.id, [bot.id]);
    say();
    client.deliver();
    server.setMembers(plan.id, [ann.id, bot.id]);
    client.deliver();
    await pass();
    expect(store.state().topics.get("topic-plan")?.messageCount).toBe(2);
    expect(store.state().windows.get("topic-plan")?.messages.map((each) => each.seq)).toEqual([1, 2]);
    store.dispose();
  });
});
