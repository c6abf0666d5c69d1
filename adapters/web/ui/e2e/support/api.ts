/** The server's API as people and agents call it, to make what the browser then shows. */
import { type Client, type Interceptor, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { AgentDoor } from "../../src/gen/compass/v1/agent_door_pb";
import { type Account, type Channel, CommsService, type Message } from "../../src/gen/compass/v1/comms_pb";
import { CompassService } from "../../src/gen/compass/v1/compass_pb";
import { InboxService } from "../../src/gen/compass/v1/inbox_pb";
import { PeopleService } from "../../src/gen/compass/v1/people_pb";
import { SessionService } from "../../src/gen/compass/v1/session_pb";
import type { Server } from "./server";

function transport(server: Server, token: string | undefined) {
  const bearer: Interceptor = (next) => (request) => {
    if (token !== undefined) request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  return createGrpcWebTransport({ baseUrl: server.url, interceptors: [bearer] });
}

/** What a question is made of; everything else is left out. */
export interface Question {
  readonly id: string;
  readonly question: string;
  readonly header?: string;
  readonly options?: readonly (string | { readonly label: string; readonly description?: string; readonly preview?: string })[];
  readonly multiple?: boolean;
  readonly recommended?: number;
}

/** Fails where the server left something out that it always sends. */
export function there<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`the server sent no ${what}`);
  return value;
}

export class Person {
  readonly comms: Client<typeof CommsService>;
  readonly compass: Client<typeof CompassService>;
  readonly inbox: Client<typeof InboxService>;
  readonly people: Client<typeof PeopleService>;
  readonly sessions: Client<typeof SessionService>;

  constructor(
    private readonly server: Server,
    readonly token: string,
    readonly accountId: string,
  ) {
    const over = transport(server, token);
    this.comms = createClient(CommsService, over);
    this.compass = createClient(CompassService, over);
    this.inbox = createClient(InboxService, over);
    this.people = createClient(PeopleService, over);
    this.sessions = createClient(SessionService, over);
  }

  /** Trades a one-time secret. */
  static async signIn(server: Server, secret: string): Promise<Person> {
    const { token, accountId } = await createClient(SessionService, transport(server, undefined)).tradeSignIn({ secret });
    return new Person(server, token, accountId);
  }

  /** Another person, made by this administrator. */
  async addPerson(handle: string): Promise<Person> {
    const { account } = await this.comms.createUser({ handle, displayName: handle });
    const { id } = there(account, "account");
    const { secret } = await this.sessions.createSignInLink({ accountId: id });
    return Person.signIn(this.server, secret);
  }

  /** A secret that signs this person in once; asked for by an administrator. */
  async secretFor(accountId: string): Promise<string> {
    return (await this.sessions.createSignInLink({ accountId })).secret;
  }

  async addAgent(handle: string): Promise<Agent> {
    const { account } = await this.comms.createAgent({ handle, displayName: handle });
    const made = there(account, "account");
    const { token } = await this.compass.issueToken({ accountId: made.id });
    return new Agent(this.server, token, made);
  }

  async addChannel(name: string, memberHandles: readonly string[], groupId = ""): Promise<Channel> {
    const { channel } = await this.comms.createChannel({ name, groupId, memberHandles: [...memberHandles] });
    return there(channel, "channel");
  }

  async post(channelId: string, topic: string, text: string): Promise<Message> {
    const { message } = await this.comms.postMessage({
      container: { case: "channelId", value: channelId },
      topic: { case: "topicName", value: topic },
      blocks: [{ block: { case: "text", value: text } }],
    });
    return there(message, "message");
  }

  /** Every message of a channel that holds an answer. */
  async answers(channelId: string): Promise<Message[]> {
    const { messages } = await this.comms.listMessages({ container: { case: "channelId", value: channelId }, limit: 200 });
    return messages.filter((message) => message.blocks.some(({ block }) => block.case === "askAnswer"));
  }
}

export class Agent {
  readonly door: Client<typeof AgentDoor>;
  readonly homeChannelId: string;

  constructor(
    server: Server,
    readonly token: string,
    readonly account: Account,
  ) {
    this.door = createClient(AgentDoor, transport(server, token));
    this.homeChannelId = account.kind.case === "agent" ? account.kind.value.homeChannelId : "";
  }

  /** Posts an ask; gives its message, with the ids that the server chose. */
  async ask(topic: string, questions: readonly Question[], channelId = this.homeChannelId): Promise<{ message: Message; askId: string }> {
    const { result } = await this.door.call({
      callId: "ask",
      call: {
        case: "post",
        value: {
          container: { case: "channelId", value: channelId },
          topic: { case: "topicName", value: topic },
          blocks: [{ block: { case: "ask", value: { questions: questions.map(asSent) } } }],
        },
      },
    });
    if (result.case !== "post") throw new Error(`no ask was posted: ${JSON.stringify(result.value)}`);
    const message = there(result.value.message, "message");
    const block = message.blocks.find((found) => found.block.case === "ask")?.block;
    if (block?.case !== "ask") throw new Error("the posted message holds no ask");
    return { message, askId: block.value.askId };
  }

  async post(topic: string, text: string, channelId = this.homeChannelId): Promise<Message> {
    const { result } = await this.door.call({
      callId: "post",
      call: {
        case: "post",
        value: {
          container: { case: "channelId", value: channelId },
          topic: { case: "topicName", value: topic },
          blocks: [{ block: { case: "text", value: text } }],
        },
      },
    });
    if (result.case !== "post") throw new Error(`nothing was posted: ${JSON.stringify(result.value)}`);
    return there(result.value.message, "message");
  }

  /** Withdraws an ask; gives the error's code if it was refused. */
  async cancel(askId: string): Promise<string | undefined> {
    const { result } = await this.door.call({ callId: "cancel", call: { case: "cancelAsk", value: { askId } } });
    return result.case === "error" ? result.value.code : undefined;
  }
}

function asSent(question: Question) {
  const options = (question.options ?? []).map((option, index) => ({
    id: index.toString(),
    ...(typeof option === "string" ? { label: option } : option),
  }));
  return {
    questionId: question.id,
    question: question.question,
    header: question.header ?? "",
    options,
    allowMultiple: question.multiple ?? false,
    ...(question.recommended === undefined ? {} : { recommended: question.recommended }),
  };
}
