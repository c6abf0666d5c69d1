// @vitest-environment node
import { describe, expect, it } from "vitest";
import { Failure } from "../model/client";
import type { Ask } from "../model/types";
import { agent, answering, ask, askOf, asking, channel, message, person, question, topic } from "./builders";
import { FakeClient } from "./fake";
import { FakeServer } from "./server";

const ann = person("ann");
const bot = agent("bot", ann.id);

const world = () => {
  const server = new FakeServer(ann);
  const plan = channel("plan", [ann, bot]);
  server.seed(bot, plan, topic("plan", plan.id));
  return { server, client: new FakeClient(server), plan };
};

describe("what no server can hold", () => {
  it("C32 an ask is not both answered and cancelled", () => {
    expect(() => askOf("a", { answered: true, cancelled: true })).toThrow("both answered and cancelled");
  });
  it("C32 a cancelled or open ask holds no answer", () => {
    const chosen = [question("q1", { chosen: ["0"] })];
    expect(() => askOf("a", { cancelled: true, questions: chosen })).toThrow("is cancelled and holds an answer");
    expect(() => askOf("a", { questions: [question("q1", { customText: "x" })] })).toThrow("is open and holds an answer");
    expect(askOf("a", { answered: true, questions: chosen }).end.kind).toBe("answered");
  });
  it("C32 the fake server refuses such a message, seeded or told", () => {
    const { server, plan } = world();
    const wrong: Ask = { ...ask("a"), questions: [question("q1", { chosen: ["0"] })], end: { kind: "cancelled", at: 1 } };
    const holding = { ...message(1, "x"), blocks: [asking(wrong)] };
    expect(() => server.seedMessage(plan.id, holding)).toThrow("is cancelled and holds an answer");
    expect(() => server.tell({ kind: "message_updated", message: holding })).toThrow("is cancelled and holds an answer");
    expect(() => answering(ask("a"), bot.id)).toThrow("is open");
  });
});

describe("the fake client", () => {
  it("refuses an answer to a closed ask with the server's words, and changes nothing", async () => {
    const { server, client, plan } = world();
    server.seedMessage(plan.id, message(1, [asking(ask("a"))], { authorId: bot.id }));
    server.cancel("a");
    await expect(client.respond("a", [{ questionId: "q1", chosen: ["0"], customText: "" }])).rejects.toThrow('ask "a" is cancelled');
    expect(server.inTopic("topic-plan")).toHaveLength(1);
    expect(client.called("respond")).toHaveLength(1);
  });

  it("holds a reply until it is released, with what was true when the call came in", async () => {
    const { server, client, plan } = world();
    const held = client.hold("listTopics");
    const reply = client.listTopics([plan.id]);
    server.post(plan.id, { kind: "id", id: "topic-plan" }, [{ kind: "text", text: "late" }]);
    held.release();
    expect((await reply).topics.map((each) => each.messageCount)).toEqual([0]);
    const refused = client.hold("listTopics");
    const second = client.listTopics([plan.id]);
    refused.fail(new Failure("unavailable", "gone"));
    await expect(second).rejects.toThrow("gone");
  });

  it("replays what was told after the boundary and resumes after a cursor", async () => {
    const { server, client, plan } = world();
    server.post(plan.id, { kind: "id", id: "topic-plan" }, [{ kind: "text", text: "one" }]);
    const over = new AbortController();
    const kinds: string[] = [];
    for await (const frame of client.subscribe(undefined, over.signal)) {
      kinds.push(frame.event.kind);
      if (frame.cursor?.seq === 1n) server.post(plan.id, { kind: "id", id: "topic-plan" }, [{ kind: "text", text: "two" }]);
      if (kinds.length === 3) over.abort();
    }
    expect(kinds).toEqual(["boundary", "message_posted", "message_posted"]);
    const again = client.subscribe({ kind: "tail", seq: 1n, epoch: client.epoch }, new AbortController().signal);
    for await (const frame of again) {
      expect(frame.cursor?.seq).toBe(2n);
      break;
    }
  });

  it("asks for a new start after a cursor of another epoch", async () => {
    const { client } = world();
    const kinds: string[] = [];
    for await (const frame of client.subscribe({ kind: "tail", seq: 0n, epoch: 1n }, new AbortController().signal)) kinds.push(frame.event.kind);
    expect(kinds).toEqual(["resync_required"]);
  });
});
