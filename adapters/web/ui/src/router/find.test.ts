import { describe, expect, it } from "vitest";
import { Failure } from "../model/client";
import { agent, channel, message, person, topic } from "../testing/builders";
import { FakeClient } from "../testing/fake";
import { FakeServer } from "../testing/server";
import { findTopic } from "./find";

const ann = person("ann");
const bot = agent("bot", ann.id);
const plan = channel("plan", [ann, bot]);

const world = (count: number) => {
  const server = new FakeServer(ann).seed(bot, plan, topic("one", plan.id), topic("two", plan.id));
  for (let seq = 1; seq <= count; seq += 1) server.seedMessage(plan.id, message(seq, "x", { topicId: seq % 2 === 0 ? "topic-two" : "topic-one" }));
  const client = new FakeClient(server);
  client.pageSize = 10;
  return client;
};
const find = (client: FakeClient, id: string) => findTopic(client, plan.id, id);

describe("C42 a message whose topic is not known", () => {
  it("is found wherever it is in its channel, the first one and the last one as well", async () => {
    for (const [seq, where] of [[1, "topic-one"], [14, "topic-two"], [30, "topic-two"]] as const) expect(await find(world(30), `message-${seq}`), String(seq)).toBe(where);
  });
  it("is not searched if it is not of the channel, nor for ever, and what goes wrong is told", async () => {
    const client = world(30);
    expect(await find(client, "elsewhere")).toBeUndefined();
    expect(client.called("listMessages")).toHaveLength(1);
    const long = world(300);
    expect(await find(long, "message-1")).toBeUndefined();
    expect(long.called("listMessages")).toHaveLength(21);
    client.failNext("listMessages", new Failure("unavailable", "away"));
    await expect(find(client, "message-1")).rejects.toThrow("away");
  });
});
