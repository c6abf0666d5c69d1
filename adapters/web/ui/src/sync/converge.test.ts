/** Whatever happens in whichever order, the page ends up with what the server holds. */
import { describe, expect, it } from "vitest";
import { takesPart } from "../model/account";
import { Failure } from "../model/client";
import type { Channel, Message, Topic } from "../model/types";
import type { State } from "../store/contract";
import { agent, channel, group, option, person, topic } from "../testing/builders";
import { Dice } from "../testing/dice";
import { FakeClient } from "../testing/fake";
import type { Held, Method } from "../testing/fake";
import { FakeServer } from "../testing/server";
import { testStore } from "../testing/store";
import type { TestStore } from "../testing/store";
import { BACKOFF_CAP_MS } from "./run";

const ann = person("ann");
const ben = person("ben");
const bot = agent("bot", ann.id);
const everyone = [ann, ben, bot];
const HELD: readonly Method[] = ["listTopics", "listOpenAsks", "listChannels", "listAccounts", "roster", "listMessages", "markRead"];

const TRIALS = 60;
const STEPS = 60;

/** One trial: a server, a page on it, and chance that moves both. */
class Trial {
  readonly server = new FakeServer(ann);
  readonly client = new FakeClient(this.server, { auto: false });
  /** False: whoever takes part in a channel stays there. */
  comesAndGoes = true;
  private readonly held: Held[] = [];

  private constructor(readonly dice: Dice, readonly page: { test?: TestStore }) {
    const shared = group("all", ben.id);
    const [plan, work, seen] = [channel("plan", everyone), channel("work", [ben, bot]), channel("seen", [ben], { groupId: shared.id })];
    this.server.seed(ben, bot, shared, plan, work, seen, topic("one", plan.id), topic("two", plan.id, { archived: true }), topic("three", work.id), topic("four", seen.id));
    this.client.pageSize = 3;
  }

  /** `before` is what happens last before the page is loaded. */
  static async start(seed: number, before: (trial: Trial) => void = () => undefined): Promise<Trial> {
    const trial = new Trial(new Dice(seed), {});
    for (let step = trial.dice.below(20); step > 0; step -= 1) trial.deed();
    before(trial);
    trial.page.test = await testStore(trial.client, { wait: false });
    return trial;
  }

  get test(): TestStore {
    if (!this.page.test) throw new Error("the page is not there yet");
    return this.page.test;
  }

  async step(): Promise<void> {
    const { dice, client } = this;
    switch (dice.below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        this.deed();
        break;
      case 4:
      case 5:
      case 6:
        client.deliver(1 + dice.below(4));
        break;
      case 7:
        this.held.push(client.hold(dice.pick(HELD) ?? "listTopics"));
        break;
      case 8:
        this.letGo();
        break;
      case 9:
        this.disturb();
        break;
      case 10:
        this.look();
        break;
      default:
        await this.test.pass(dice.below(3) * 400);
    }
    if (!dice.once(3)) await this.test.pass(0);
  }

  /** Lets everything come to rest. */
  async end(): Promise<void> {
    for (let round = 0; round < 12; round += 1) {
      while (this.held.length > 0) this.held.pop()?.release();
      this.client.deliver();
      await this.test.pass(BACKOFF_CAP_MS);
    }
  }

  private letGo(): void {
    const held = this.held.splice(this.dice.below(this.held.length + 1), 1)[0];
    if (this.dice.once(8)) held?.fail(new Failure("unavailable", "the reply was lost"));
    else held?.release();
  }

  private disturb(): void {
    const { client, dice } = this;
    switch (dice.below(4)) {
      case 0:
        client.streams.at(-1)?.fail();
        break;
      case 1:
        client.streams.at(-1)?.close();
        break;
      case 2:
        // The server starts anew: nothing can be resumed.
        client.epoch += 1n;
        client.streams.at(-1)?.fail();
        break;
      default:
        client.streams.at(-1)?.push(client.resync());
        client.streams.at(-1)?.close();
    }
  }

  private look(): void {
    const known = [...this.test.store.state().topics.values()];
    const one = this.dice.pick(known);
    if (!one) return;
    if (this.dice.once(2)) this.test.store.openTopic(one.channelId, one.id);
    else this.test.store.loadOlder(one.id);
  }

  /** Ann is put into the channel, or out of it. */
  comeOrGo({ id, memberIds }: Channel): void {
    const others = memberIds.filter((each) => each !== ann.id);
    this.server.setMembers(id, memberIds.includes(ann.id) ? others : [...others, ann.id]);
  }

  /** Something that people or agents do. */
  private deed(): void {
    const { server, dice } = this;
    const place = dice.pick([...server.channels.values()]);
    if (!place) return;
    const topics = server.topics(place.id, true);
    const one = dice.pick(topics);
    const author = dice.pick(everyone) ?? bot;
    const open = server.openAsks().flatMap((entry) => entry.message.blocks.flatMap((block) => (block.kind === "ask" && block.ask.end.kind === "open" ? [block.ask] : [])));
    const asked = dice.pick(open);
    if (dice.once(3)) server.at += 1;
    switch (dice.below(14)) {
      case 0:
      case 1:
      case 2:
        if (one) server.post(place.id, { kind: "id", id: one.id }, [{ kind: "text", text: "said" }], author.id);
        break;
      case 3:
        server.post(place.id, { kind: "name", name: dice.pick(["one", "two", "new", "other"]) ?? "new" }, [{ kind: "text", text: "said" }], author.id);
        break;
      case 4:
      case 5:
        if (one) {
          const questions = [{ id: "q1", question: "Which?", header: "", options: [option("0"), option("1")], multiple: false, recommended: undefined }];
          const block = { kind: "ask" as const, ask: { questions } };
          server.post(place.id, { kind: "id", id: one.id }, dice.once(4) ? [block, block] : [block], bot.id);
        }
        break;
      case 6:
        if (asked) server.answer(asked.id, [{ questionId: "q1", chosen: ["1"], customText: "" }], dice.once(2) ? ann.id : ben.id);
        break;
      case 7:
        if (asked) server.cancel(asked.id);
        break;
      case 8:
        if (one) server.updateTopic(one.id, dice.once(3) ? { archived: !one.archived } : { name: dice.pick(["one", "two", "new", "NEW", "third"]) ?? "new" });
        break;
      case 9:
        if (one && server.participates(place.id)) server.markRead(one.id, dice.below(one.lastSeq + 1));
        break;
      case 10:
        if (this.comesAndGoes) this.comeOrGo(place);
        break;
      case 11:
      case 12:
        // Joined to another one, unless it is its own name.
        if (one) server.updateTopic(one.id, { name: dice.pick(topics)?.name ?? "new" });
        break;
      default:
        server.setPresence(bot.id, dice.pick(["idle", "working", "waiting"]) ?? "idle", dice.once(2) ? "busy" : "");
    }
  }
}

/** The ask in which an option is picked now; one that a loaded message knows to have ended takes none. */
const pickOne = async ({ store, pass }: TestStore): Promise<string | undefined> => {
  const [askId, entry] = [...store.state().openAsks][0] ?? [];
  if (askId === undefined || !entry) return undefined;
  store.asks.pick(entry.message.id, askId, "q1", "1");
  await pass(0);
  return store.staged().has(askId) ? askId : undefined;
};

const shownTopic = ({ id, channelId, name, archived, messageCount, lastSeq, lastActivity, openAsks, participantIds }: Topic) => ({ id, channelId, name, archived, messageCount, lastSeq, lastActivity, openAsks, participantIds });

/** What the page has to show of the server, and what it shows. */
const truth = (server: FakeServer, state: State) => {
  const mine = [...server.channels.values()].filter((each) => takesPart(each, ann.id, server.accounts));
  const topics = mine.flatMap((each) => server.topics(each.id, true));
  const entry = (id: string) => server.openAsks().find((each) => each.message.blocks.some((block) => block.kind === "ask" && block.ask.id === id));
  const seen = [...server.channels.values()].filter((each) => mine.includes(each) || each.groupId !== undefined);
  return {
    channels: sorted(seen),
    topics: sorted(topics.map(shownTopic)),
    positions: sorted(topics.map((each) => ({ id: each.id, ...server.position(each.id) })).map(({ id, seq, unread }) => ({ id, seq, unread }))),
    asks: sorted(server.openAsks().flatMap(({ message, channelId }) => message.blocks.flatMap((block) => (block.kind === "ask" && block.ask.end.kind === "open" ? [{ id: block.ask.id, channelId, message: entry(block.ask.id)?.message }] : [])))),
    merged: new Map(mine.flatMap((each) => server.moved(each.id))),
    presence: [...server.presence].map(([id, { state: is, activity }]) => ({ id, is, activity })),
    windows: [...state.windows].map(([id, window]) => ({ id, messages: belowless(server.inTopic(id), window.messages, window.complete) })),
  };
};

const shown = (state: State) => ({
  channels: sorted([...state.channels.values()]),
  topics: sorted([...state.topics.values()].map(shownTopic)),
  positions: sorted([...state.topics.keys()].map((id) => ({ id, seq: state.positions.get(id)?.seq ?? 0, unread: state.positions.get(id)?.unread ?? 0 }))),
  asks: sorted([...state.openAsks].map(([id, { message, channelId }]) => ({ id, channelId, message }))),
  merged: state.merged,
  presence: [...state.presence].map(([id, { state: is, activity }]) => ({ id, is, activity })),
  windows: [...state.windows].map(([id, { messages }]) => ({ id, messages })),
});

const sorted = <T extends { readonly id: string }>(all: readonly T[]): readonly T[] => [...all].sort((a, b) => (a.id < b.id ? -1 : 1));

/** What a window that reaches down to its oldest message has to hold: no gap, and nothing old. */
const belowless = (all: readonly Message[], loaded: readonly Message[], complete: boolean): readonly Message[] => {
  const oldest = loaded[0];
  if (complete) return all;
  return oldest ? all.filter((message) => message.seq >= oldest.seq) : [];
};

describe("the page and its server", () => {
  it("agree after any interleaving of deeds, reads, replies and broken connections", async () => {
    let [met, joined] = [0, 0];
    for (let seed = 1; seed <= TRIALS; seed += 1) {
      const trial = await Trial.start(seed);
      for (let step = 0; step < STEPS; step += 1) await trial.step();
      await trial.end();
      const state = trial.test.store.state();
      expect(trial.test.store.connection(), `seed ${seed}`).toEqual({ kind: "live" });
      expect(shown(state), `seed ${seed}`).toEqual(truth(trial.server, state));
      joined += state.merged.size;
      met += state.windows.size + state.openAsks.size + state.topics.size;
      trial.test.store.dispose();
    }
    // The trials were about something.
    expect(met).toBeGreaterThan(TRIALS * 3);
    expect(joined).toBeGreaterThan(TRIALS / 3);
  }, 60_000);

  it("keep what the person takes part in, and what was picked there, however old what is told again is", async () => {
    let picks = 0;
    for (let seed = 1; seed <= TRIALS; seed += 1) {
      const trial = await Trial.start(seed, (before) => {
        for (const place of before.server.channels.values()) for (let turn = before.dice.below(4); turn > 0; turn -= 1) before.comeOrGo(before.server.channels.get(place.id) ?? place);
        before.comesAndGoes = false;
      });
      const { server, test } = trial;
      const mine = [...server.channels.keys()].filter((id) => server.participates(id));
      let picked: string | undefined;
      for (let step = 0; step < STEPS; step += 1) {
        await trial.step();
        // What is published together is looked at together.
        await test.pass(0);
        const state = test.store.state();
        if (!state.ready) continue;
        const shownMine = [...state.channels.values()].filter((each) => takesPart(each, ann.id, state.accounts)).map((each) => each.id);
        expect(shownMine.sort(), `seed ${seed}, step ${step}`).toEqual([...mine].sort());
        const withTopics = new Set([...state.topics.values()].map((each) => each.channelId));
        for (const id of mine) expect(withTopics, `seed ${seed}, step ${step}`).toContain(id);
        if (picked !== undefined && state.openAsks.has(picked)) expect([...test.store.staged().keys()], `seed ${seed}, step ${step}`).toContain(picked);
        else picked = await pickOne(test);
        if (picked !== undefined && server.openAsks().some((entry) => entry.message.blocks.some((block) => block.kind === "ask" && block.ask.id === picked))) {
          expect([...state.openAsks.keys()], `seed ${seed}, step ${step}`).toContain(picked);
          picks += 1;
        }
      }
      test.store.dispose();
    }
    expect(picks).toBeGreaterThan(TRIALS);
  }, 60_000);
});
