/** A large world for measurements, made through the API by many at once. */
import { type Agent, Person } from "./api";
import type { Server } from "./server";

export interface Crowd {
  readonly admin: Person;
  readonly agents: readonly Agent[];
  readonly channelIds: readonly string[];
}

/** Does the work for every number below `count`, so many at once. */
export async function atOnce(count: number, width: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane));
}

/** Channels with topics in groups, messages spread over all of them, and open asks. */
export async function crowd(server: Server, size: { readonly channels: number; readonly messages: number; readonly asks: number }): Promise<Crowd> {
  const admin = await Person.signIn(server, await server.firstSecret());
  const agents: Agent[] = [];
  for (let index = 0; index < 12; index++) agents.push(await admin.addAgent(`bot-${index.toString()}`));
  const agent = (index: number): Agent => {
    const found = agents[index % agents.length];
    if (found === undefined) throw new Error("there are no agents");
    return found;
  };
  const channelIds: string[] = [];
  await atOnce(size.channels, 8, async (index) => {
    const channel = await admin.addChannel(`channel-${index.toString().padStart(3, "0")}`, [agent(index).account.handle]);
    channelIds[index] = channel.id;
  });
  const channelOf = (index: number): string => {
    const id = channelIds[index % channelIds.length];
    if (id === undefined) throw new Error("there are no channels");
    return id;
  };
  await atOnce(size.messages, 32, async (index) => {
    const topic = `topic ${(Math.floor(index / size.channels) % 3).toString()}`;
    const text = `Message **${index.toString()}** with \`code\` and a [link](https://example.com/${index.toString()}). ${"Words that fill a line. ".repeat(index % 5)}`;
    // The channel's own agent and the person take turns.
    if (index % 2 === 0) await agent(index % size.channels).post(topic, text, channelOf(index));
    else await admin.post(channelOf(index), topic, text);
  });
  await atOnce(size.asks, 8, async (index) => {
    await agent(index).ask("Decisions", [{ id: "q", question: `Decide number ${index.toString()}?`, options: ["Yes", "No", "Later"] }]);
  });
  return { admin, agents, channelIds };
}

/** One topic with very many messages. */
export async function longTopic(world: Crowd, count: number): Promise<{ readonly channelId: string; readonly topicId: string; readonly last: string }> {
  const { admin } = world;
  const channel = await admin.addChannel("long", []);
  const first = await admin.post(channel.id, "Everything", "line 0");
  await atOnce(count - 2, 32, (index) => admin.post(channel.id, "Everything", `line ${(index + 1).toString()}`));
  const last = `line ${(count - 1).toString()}, the last`;
  await admin.post(channel.id, "Everything", last);
  return { channelId: channel.id, topicId: first.topicId, last };
}
