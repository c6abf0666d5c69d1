/** What many tests of the store begin with: one channel, and in it an agent that has asked. */
import type { AskQuestion } from "../model/types";
import { agent, ask, asking, channel, message, person, question, topic } from "./builders";
import { FakeClient } from "./fake";
import { FakeServer } from "./server";

export const ann = person("ann");
export const bot = agent("bot", ann.id);

interface Options {
  /** Of the ask "a", in message 1; one called "q1" unless told otherwise. */
  readonly questions?: readonly AskQuestion[];
  /** False: the client's stream carries only what a test hands over. */
  readonly auto?: boolean;
}

export const planned = ({ questions = [question("q1")], auto = true }: Options = {}) => {
  const server = new FakeServer(ann);
  const plan = channel("plan", [ann, bot]);
  server.seed(bot, plan, topic("plan", plan.id));
  server.seedMessage(plan.id, message(1, [asking(ask("a", questions))], { authorId: bot.id }));
  const say = () => server.post(plan.id, { kind: "id", id: "topic-plan" }, [{ kind: "text", text: "said" }], bot.id);
  return { server, plan, say, client: new FakeClient(server, { auto }) };
};
