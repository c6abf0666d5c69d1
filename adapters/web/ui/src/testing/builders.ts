/** Values for tests. Impossible ones are refused, so that no test proves something about a state no server can hold. */
import type {
  Account, Agent, Ask, AskEnd, AskOption, AskQuestion, Block, Channel, Group, Message, ReadPosition, System, Topic, User,
} from "../model/types";

export const person = (handle: string, change: Partial<User> = {}): User => ({
  kind: "user", id: `user-${handle}`, handle, displayName: handle, admin: false, ...change,
});

export const agent = (handle: string, ownerId: string, change: Partial<Agent> = {}): Agent => ({
  kind: "agent", id: `agent-${handle}`, handle, displayName: handle, ownerId, homeChannelId: undefined, parentId: undefined, ...change,
});

export const system = (change: Partial<System> = {}): System => ({
  kind: "system", id: "system-compass", handle: "compass", displayName: "Compass", ...change,
});

export const group = (name: string, ownerId: string, change: Partial<Group> = {}): Group => ({
  id: `group-${name}`, name, parentId: undefined, ownerId, shared: true, ...change,
});

export const channel = (name: string, members: readonly Account[], change: Partial<Channel> = {}): Channel => ({
  id: `channel-${name}`, name, groupId: undefined, kind: "channel", memberIds: members.map((each) => each.id),
  subscriberIds: members.map((each) => each.id), ownerOnly: false, ownerId: undefined, mandatory: false, pins: [],
  anchorId: undefined, ...change,
});

export const topic = (name: string, channelId: string, change: Partial<Topic> = {}): Topic => ({
  id: `topic-${name}`, channelId, name, createdAt: 1_000, createdBy: "user-ann", archived: false, messageCount: 0,
  lastActivity: 1_000, participantIds: [], openAsks: 0, braked: false, lastSeq: 0, ...change,
});

export const position = (topicId: string, change: Partial<ReadPosition> = {}): ReadPosition => ({
  topicId, seq: 0, unread: 0, countedTo: 0, ...change,
});

export const byId = <T extends { readonly id: string }>(all: readonly T[]): ReadonlyMap<string, T> => new Map(all.map((each) => [each.id, each]));

export const option = (id: string, change: Partial<AskOption> = {}): AskOption => ({
  id, label: `Option ${id}`, description: "", preview: "", ...change,
});

/** A question with the options "0", "1", … unless `options` says others. */
export const question = (id: string, change: Partial<AskQuestion> & { readonly count?: number } = {}): AskQuestion => {
  const { count = 2, ...rest } = change;
  return {
    id, question: `Question ${id}?`, header: "", multiple: false, recommended: undefined, chosen: [], customText: "",
    options: Array.from({ length: count }, (_, index) => option(String(index))), ...rest,
  };
};

export const ask = (id: string, questions: readonly AskQuestion[] = [question("q1")], end: AskEnd = { kind: "open" }): Ask =>
  possible({ id, questions, end });

/** An ask the way the wire spells it: two booleans. */
export const askOf = (id: string, state: { readonly questions?: readonly AskQuestion[]; readonly answered?: boolean; readonly cancelled?: boolean }): Ask => {
  const { questions = [question("q1")], answered = false, cancelled = false } = state;
  if (answered && cancelled) throw new Error(`ask "${id}" cannot be both answered and cancelled`);
  const end: AskEnd = answered ? { kind: "answered", by: "user-ann", at: 2_000 } : cancelled ? { kind: "cancelled", at: 2_000 } : { kind: "open" };
  return ask(id, questions, end);
};

/** The same ask, or an error if no server can hold it. */
export const possible = (of: Ask): Ask => {
  const given = of.questions.some((each) => each.chosen.length > 0 || each.customText !== "");
  if (given && of.end.kind !== "answered") throw new Error(`ask "${of.id}" is ${of.end.kind} and holds an answer`);
  for (const each of of.questions) {
    if (!each.multiple && each.chosen.length > 1) throw new Error(`question "${each.id}" takes one option and holds ${each.chosen.length}`);
    const unknown = each.chosen.find((chosen) => !each.options.some((known) => known.id === chosen));
    if (unknown !== undefined) throw new Error(`question "${each.id}" has no option "${unknown}"`);
    if (each.recommended !== undefined && each.options[each.recommended] === undefined)
      throw new Error(`question "${each.id}" recommends option ${each.recommended} of ${each.options.length}`);
  }
  return of;
};

export const text = (of: string): Block => ({ kind: "text", text: of });
export const asking = (of: Ask): Block => ({ kind: "ask", ask: of });
export const answering = (of: Ask, askerId: string): Block => {
  if (of.end.kind !== "answered") throw new Error(`an answer block holds an answered ask, "${of.id}" is ${of.end.kind}`);
  return { kind: "answer", ask: of, askerId };
};

/** A message of topic "topic-plan" unless told otherwise; the id comes from the seq. */
export const message = (seq: number, blocks: readonly Block[] | string, change: Partial<Message> = {}): Message => {
  const of = typeof blocks === "string" ? [text(blocks)] : blocks;
  return possibleMessage({ id: `message-${seq}`, topicId: "topic-plan", authorId: "user-ann", at: 1_000 + seq, blocks: of, seq, ...change });
};

/** The same message, or an error if no server can hold it. */
export const possibleMessage = (of: Message): Message => {
  for (const block of of.blocks) {
    if (block.kind === "ask" || block.kind === "answer") possible(block.ask);
    if (block.kind === "answer" && block.ask.end.kind !== "answered") throw new Error(`an answer block holds an answered ask, "${block.ask.id}" is ${block.ask.end.kind}`);
  }
  return of;
};
