import { describe, expect, it } from "vitest";
import type { State } from "../store/contract";
import type { ReadPosition } from "../model/types";
import { toldText } from "../strings";
import { emptyState } from "../sync/reducer";
import { agent, ask, asking, byId, channel, message, person, position, topic } from "../testing/builders";
import { FakeClient } from "../testing/fake";
import { FakeServer } from "../testing/server";
import { testStore } from "../testing/store";
import { faviconSvg } from "./favicon";
import { tell } from "./fresh";
import { unreadBesides } from "./unread";

const ann = person("ann");
const bot = agent("bot", ann.id);
const plan = channel("plan", [ann, bot]);
const base: State = { ...emptyState(ann.id), ready: true, accounts: byId([ann, bot]), channels: byId([plan]) };
const state = (ids: readonly string[], ready = true): State => ({
  ...base, ready,
  openAsks: new Map(ids.map((id, index) => [id, { message: message(index + 1, [asking(ask(id))], { authorId: bot.id }), channelId: plan.id }])),
});
const fresh = (known: ReadonlySet<string> | undefined, of: State) => tell(known, of).fresh.map((each) => each.ask.id);

describe("news", () => {
  it("what was open in the first snapshot is none, what comes after is, once", () => {
    expect(fresh(undefined, state(["a"]))).toEqual([]);
    const { known } = tell(undefined, state(["a"]));
    expect(fresh(known, state(["a", "b"]))).toEqual(["b"]);
    const after = tell(known, state(["a", "b"])).known;
    expect(fresh(after, state(["a", "b"]))).toEqual([]);
  });
  it("a new snapshot brings old asks back without telling of them again", () => {
    const { known } = tell(undefined, state(["a"]));
    const reset = tell(known, state([], false));
    expect(reset.known).toBe(known);
    expect(fresh(reset.known, state(["a"]))).toEqual([]);
  });
  it("what went out of sight and comes back, as with a channel that is left and joined again, is no news", () => {
    const { known } = tell(undefined, state(["a"]));
    const away = tell(known, state(["b"]));
    expect(fresh(away.known, state(["a", "b"]))).toEqual([]);
  });
  it("nothing is known before the first snapshot", () => {
    expect(tell(undefined, state(["a"], false))).toEqual({ known: undefined, fresh: [] });
  });
});

describe("what is unread", () => {
  it("does not count the messages that ask: they are counted as what waits", () => {
    const at = { topics: byId([topic("plan", plan.id), topic("away", plan.id, { archived: true })]) };
    const asks = (...entries: readonly (readonly [string, ReturnType<typeof message>])[]) => new Map(entries.map(([id, of]) => [id, { message: of, channelId: plan.id }]));
    const by = { authorId: bot.id };
    const of = (openAsks: State["openAsks"], change: Partial<ReadPosition> = {}): State => ({ ...base, ...at, openAsks, positions: new Map([["topic-plan", position("topic-plan", { seq: 3, unread: 4, countedTo: 7, ...change })]]) });
    expect(unreadBesides(of(new Map()))).toBe(4);
    const both = message(5, [asking(ask("a")), asking(ask("b"))], by);
    expect(unreadBesides(of(asks(["a", both], ["b", both])))).toBe(3);
    // Read, one's own, not counted yet, and in a topic whose unread messages are not counted.
    expect(unreadBesides(of(asks(["a", message(3, "x", by)], ["b", message(4, "x")], ["c", message(8, "x", by)], ["d", message(5, "x", { ...by, topicId: "topic-away" })])))).toBe(4);
  });
});

describe("an ask that the person answered", () => {
  it("is no news to them; one that another answered or that was withdrawn is", async () => {
    const server = new FakeServer(ann);
    server.seed(bot, person("ben"), plan, topic("plan", plan.id));
    for (const [index, id] of ["a", "b", "c", "d"].entries()) server.seedMessage(plan.id, message(index + 1, [asking(ask(id))], { authorId: bot.id }));
    const { store, pass } = await testStore(new FakeClient(server));
    const answers = [{ questionId: "q1", chosen: [], customText: "so" }];
    expect(unreadBesides(store.state())).toBe(0);
    server.answer("a", answers);
    await pass();
    expect(unreadBesides(store.state())).toBe(0);
    server.answer("b", answers, "user-ben");
    server.cancel("c");
    await pass();
    // The ask that another answered, their answer, and the one that was withdrawn.
    expect(unreadBesides(store.state())).toBe(3);
    store.markRead("topic-plan", 4);
    await pass();
    expect(unreadBesides(store.state())).toBe(1);
    store.dispose();
  });
});

describe("title and icon", () => {
  it("count what waits and what is unread, and say nothing of nothing", () => {
    expect(toldText.titleCounts(0, 0)).toBe("");
    expect(toldText.titleCounts(1, 0)).toBe("(1 ask) ");
    expect(toldText.titleCounts(2, 3)).toBe("(2 asks, 3 unread) ");
    expect(toldText.titleCounts(0, 3)).toBe("(3 unread) ");
  });
  it("the icon carries the number of asks, else a dot for what is unread, else nothing", () => {
    expect(faviconSvg(3, 9)).toContain(">3</text>");
    expect(faviconSvg(12, 0)).toContain(">9+</text>");
    expect(faviconSvg(0, 1)).not.toContain("<text");
    expect((faviconSvg(0, 1).match(/<circle/g) ?? []).length).toBe(2);
    expect((faviconSvg(0, 0).match(/<circle/g) ?? []).length).toBe(1);
  });
});
