import { createRoot } from "solid-js";
import { describe, expect, it } from "vitest";
import { agent, ask, asking, channel, message, person, topic } from "../testing/builders";
import { FakeClient } from "../testing/fake";
import { FakeServer } from "../testing/server";
import { settle, testStore } from "../testing/store";

const ann = person("ann");
const bot = agent("bot", ann.id);

const world = () => {
  const server = new FakeServer(ann);
  const plan = channel("plan", [ann, bot]);
  server.seed(bot, plan, topic("plan", plan.id));
  server.seedMessage(plan.id, message(1, "hello", { authorId: bot.id }));
  server.seedMessage(plan.id, message(2, [asking(ask("a"))], { authorId: bot.id }));
  return { server, client: new FakeClient(server), plan };
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
