/** What the tests of reading begin with: one channel, and in it an agent that has asked. */
import { agent, ask, asking, channel, message, person, topic } from "./builders";
import { FakeClient } from "./fake";
import { FakeServer } from "./server";

export const ann = person("ann");
export const bot = agent("bot", ann.id);

/** `auto`: the client answers by itself. */
export const planned = (auto = true) => {
  const server = new FakeServer(ann);
  const plan = channel("plan", [ann, bot]);
  server.seed(bot, plan, topic("plan", plan.id));
  server.seedMessage(plan.id, message(1, [asking(ask("a"))], { authorId: bot.id }));
  const say = () => server.post(plan.id, { kind: "id", id: "topic-plan" }, [{ kind: "text", text: "said" }], bot.id);
  return { server, plan, say, client: new FakeClient(server, { auto }) };
};
