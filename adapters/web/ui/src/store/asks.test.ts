/** Staging over a whole store: what is recorded, what is sent, and what a push or a refusal makes of it. */
import { describe, expect, it } from "vitest";
import { Failure } from "../model/client";
import type { Ask, AskQuestion, QuestionAnswer } from "../model/types";
import { askText } from "../strings";
import { ask, asking, message, option, question } from "../testing/builders";
import { FakeClient } from "../testing/fake";
import { ann, bot, planned } from "../testing/planned";
import { testStore } from "../testing/store";
import type { TestStore } from "../testing/store";
import { TICK_MS } from "./store";
import { findAsk } from "./staging";

const M = "message-1";

const single = question("one");
const multi = question("many", { multiple: true, count: 3 });
const free = question("free", { options: [] });
const all = [single, multi, free];

/** A page that looks at one ask with these questions. */
const page = async (questions: readonly AskQuestion[] = all, auto = true) => {
  const { server, plan, client } = planned({ questions, auto });
  const test = await testStore(client);
  test.store.openTopic(plan.id, "topic-plan");
  await test.pass();
  return { ...test, server, plan };
};
type Page = Awaited<ReturnType<typeof page>>;

const sent = (test: TestStore): readonly unknown[] => test.client.called("respond").map((call) => call.input);
const staged = (test: TestStore) => test.store.staged().get("a");
const answers = (test: TestStore): Record<string, unknown> => Object.fromEntries(staged(test)?.answers ?? []);
const shown = (test: Page): Ask | undefined => findAsk(test.store.state(), M, "a");

/** Pushes another version of the ask. */
const push = async (test: Page, change: Partial<Ask>): Promise<void> => {
  const now = shown(test);
  if (!now) throw new Error("the ask is not shown");
  test.server.tell({ kind: "message_updated", message: message(1, [asking({ ...now, ...change })], { authorId: bot.id }) });
  await test.pass();
};

const picks = (test: Page): void => {
  test.store.asks.pick(M, "a", "one", "1");
  test.store.asks.pick(M, "a", "many", "2");
  test.store.asks.pick(M, "a", "many", "0");
  test.store.asks.type(M, "a", "many", " both ");
  test.store.asks.type(M, "a", "free", "  words ");
};
const full: readonly QuestionAnswer[] = [
  { questionId: "one", chosen: ["1"], customText: "" },
  { questionId: "many", chosen: ["0", "2"], customText: "both" },
  { questionId: "free", chosen: [], customText: "words" },
];

describe("recording", () => {
  it("C16 option click records and sends nothing, nor does the one that completes the ask", async () => {
    const test = await page();
    picks(test);
    await test.pass();
    expect(answers(test)).toMatchObject({ one: { chosen: ["1"] }, many: { chosen: ["0", "2"], text: " both " } });
    expect(sent(test)).toEqual([]);
    const alone = await page([single]);
    alone.store.asks.pick(M, "a", "one", "0");
    await alone.pass();
    expect(sent(alone)).toEqual([]);
  });

  it("C18 a pick clears the draft, text after it is refused, and the first pick wins", async () => {
    const test = await page();
    test.store.asks.type(M, "a", "one", "draft");
    test.store.asks.pick(M, "a", "one", "1");
    test.store.asks.type(M, "a", "one", "late");
    test.store.asks.pick(M, "a", "one", "0");
    await test.pass();
    expect(answers(test)).toEqual({ one: { chosen: ["1"], text: "" } });
  });

  it("C18 only taking it back opens the question again", async () => {
    const test = await page();
    test.store.asks.pick(M, "a", "one", "1");
    test.store.asks.clear(M, "a", "one");
    await test.pass();
    expect(staged(test)).toBeUndefined();
    test.store.asks.pick(M, "a", "one", "0");
    test.store.asks.pick(M, "a", "many", "0");
    test.store.asks.clear(M, "a", "many");
    await test.pass();
    expect(answers(test)).toEqual({ one: { chosen: ["0"], text: "" }, many: { chosen: ["0"], text: "" } });
  });

  it("C18 a multiple question toggles, and keeps its text", async () => {
    const test = await page();
    test.store.asks.type(M, "a", "many", "text");
    for (const id of ["2", "1", "2"]) test.store.asks.pick(M, "a", "many", id);
    await test.pass();
    expect(answers(test)).toEqual({ many: { chosen: ["1"], text: "text" } });
  });

  it("C19 unknown message, ask, question and option ids change nothing", async () => {
    const test = await page();
    const { asks } = test.store;
    asks.pick("no", "a", "one", "0");
    asks.pick(M, "no", "one", "0");
    asks.pick(M, "a", "no", "0");
    asks.pick(M, "a", "one", "no");
    asks.type(M, "a", "no", "x");
    asks.type("no", "a", "free", "x");
    asks.submit("no", "a");
    asks.submit(M, "no");
    await test.pass();
    expect(test.store.staged().size).toBe(0);
    expect(sent(test)).toEqual([]);
  });
});

describe("sending", () => {
  it("C17 submit ships one respond with one answer per question, in order and trimmed", async () => {
    const test = await page();
    picks(test);
    test.store.asks.submit(M, "a");
    await test.pass();
    expect(sent(test)).toEqual([["a", full]]);
  });

  it("C17 what is skipped is empty, and nothing staged sends nothing", async () => {
    const test = await page();
    test.store.asks.submit(M, "a");
    test.store.asks.type(M, "a", "free", " \n ");
    test.store.asks.submit(M, "a");
    expect(sent(test)).toEqual([]);
    test.store.asks.pick(M, "a", "many", "1");
    test.store.asks.submit(M, "a");
    await test.pass();
    const [only] = sent(test);
    expect(only).toEqual(["a", [
      { questionId: "one", chosen: [], customText: "" },
      { questionId: "many", chosen: ["1"], customText: "" },
      { questionId: "free", chosen: [], customText: "" },
    ]]);
  });

  it("C20 after submit nothing more is recorded and nothing is sent twice", async () => {
    const test = await page();
    const held = test.client.hold("respond");
    test.store.asks.pick(M, "a", "one", "1");
    test.store.asks.submit(M, "a");
    test.store.asks.submit(M, "a");
    test.store.asks.type(M, "a", "free", "more");
    test.store.asks.clear(M, "a", "one");
    await test.pass(0);
    expect(staged(test)?.submitted).toBe(true);
    expect(sent(test)).toHaveLength(1);
    held.release();
    await test.pass();
    // Answered: the server's word is shown, and nothing of ours is left.
    expect(shown(test)?.end.kind).toBe("answered");
    expect(staged(test)).toBeUndefined();
  });

  it("C21 a refusal is told, keeps what was staged, can be tried again, and is cleared by the next record", async () => {
    const test = await page();
    picks(test);
    test.client.failNext("respond", new Failure("unavailable", "away"));
    test.store.asks.submit(M, "a");
    await test.pass();
    expect(test.errors.map(({ where }) => where)).toEqual(["ask"]);
    expect(staged(test)).toMatchObject({ submitted: false, error: "away" });
    test.store.asks.type(M, "a", "free", "words");
    await test.pass();
    expect(staged(test)?.error).toBeUndefined();
    test.store.asks.submit(M, "a");
    await test.pass();
    expect(sent(test)).toEqual([["a", full], ["a", full]]);
  });

  it("C21 an outcome that is not known becomes known once all is read anew and the ask is open: it is said, and nothing is sent by itself", async () => {
    const test = await page();
    picks(test);
    test.client.failNext("respond", new Failure("unknown", "it is not known"));
    test.store.asks.submit(M, "a");
    await test.pass();
    expect(staged(test)?.error).toBe("it is not known");
    test.client.epoch += 1n;
    test.client.stream.fail();
    await test.pass(60_000);
    expect(staged(test)).toMatchObject({ submitted: false, error: askText.notKept });
    expect(Object.keys(answers(test))).toHaveLength(3);
    expect(sent(test)).toHaveLength(1);
  });

  it("C21 after a connection that goes on where it was, one read tells, down to the ask and no further, and says nothing of one that was sent again meanwhile", async () => {
    const test = await page();
    test.client.pageSize = 1;
    for (let n = 0; n < 2; n += 1) test.server.ask(test.plan.id, { kind: "id", id: "topic-plan" }, "later", bot.id);
    await test.pass();
    const fail = async () => {
      test.client.failNext("respond", new Failure("unknown", "it is not known"));
      test.store.asks.submit(M, "a");
      await test.pass();
    };
    const asked = test.client.called("listOpenAsks").length;
    picks(test);
    await fail();
    const held = test.client.hold("listOpenAsks");
    test.client.stream.fail();
    await test.pass(2_000);
    expect([test.store.connection().kind, test.client.called("listAccounts").length]).toEqual(["live", 1]);
    await fail();
    held.release();
    await test.pass();
    expect(staged(test)?.error).toBe("it is not known");
    expect(test.client.called("listOpenAsks")).toHaveLength(asked + 3);
    await test.pass(TICK_MS);
    expect(staged(test)).toMatchObject({ submitted: false, error: askText.notKept });
    expect([Object.keys(answers(test)).length, sent(test).length]).toEqual([3, 2]);
    await test.pass(2 * TICK_MS);
    expect(test.client.called("listOpenAsks")).toHaveLength(asked + 6);
  });

  it("C21 an answer that was kept is not said to be lost, and a read that fails leaves it open until the next", async () => {
    const test = await page(all, false);
    picks(test);
    test.client.hold("respond").fail(new Failure("unknown", "it is not known"));
    test.store.asks.submit(M, "a");
    await test.pass();
    expect(staged(test)?.error).toBe("it is not known");
    test.client.failNext("listOpenAsks");
    await test.pass(TICK_MS);
    await test.pass(TICK_MS);
    expect(staged(test)?.error).toBe("it is not known");
    test.client.deliver();
    await test.pass();
    expect([shown(test)?.end.kind, staged(test)]).toEqual(["answered", undefined]);
  });

  it("C28 nothing is recorded or sent for a closed ask", async () => {
    for (const end of ["answered", "cancelled"]) {
      const test = await page();
      if (end === "answered") test.server.answer("a", full, "user-ben");
      else test.server.cancel("a");
      await test.pass();
      picks(test);
      test.store.asks.submit(M, "a");
      await test.pass();
      expect(test.store.staged().size, end).toBe(0);
      expect(sent(test), end).toEqual([]);
    }
  });
});

describe("a push", () => {
  it("C22 another's answer while ours is on its way stays, and nothing is staged again", async () => {
    const test = await page();
    test.store.asks.pick(M, "a", "one", "1");
    const held = test.client.hold("respond");
    // The server decides for the other one before ours is looked at.
    test.client.failNext("respond", new Failure("already", 'ask "a" is already answered'));
    test.server.answer("a", [{ questionId: "one", chosen: ["0"], customText: "" }, ...full.slice(1)], "user-ben");
    test.store.asks.submit(M, "a");
    held.release();
    await test.pass();
    expect(shown(test)?.questions[0]?.chosen).toEqual(["0"]);
    expect(staged(test)?.answers.size ?? 0).toBe(0);
    expect(test.errors.map(({ where }) => where)).toEqual(["ask"]);
  });

  it("C23 accepted and the reply lost: closed stays closed, the server's error is kept, and nothing more ships", async () => {
    const test = await page();
    picks(test);
    const held = test.client.hold("respond");
    test.store.asks.submit(M, "a");
    await test.pass();
    expect(shown(test)?.end.kind).toBe("answered");
    held.fail(new Failure("internal", "the disk is full"));
    await test.pass();
    expect(staged(test)).toMatchObject({ submitted: false, error: "the disk is full" });
    expect(staged(test)?.answers.size).toBe(0);
    test.store.asks.submit(M, "a");
    expect(sent(test)).toHaveLength(1);
  });

  it("C23 that nobody answered whether it was kept is not said of an answer that stands there, only of one that another's came before", async () => {
    for (const by of [ann.id, "user-ben"]) {
      const test = await page();
      picks(test);
      const held = test.client.holdBack("respond");
      test.store.asks.submit(M, "a");
      test.server.answer("a", full, by);
      await test.pass();
      held.fail(new Failure("unknown", "it is not known"));
      await test.pass();
      expect([shown(test)?.end.kind, staged(test)?.error, test.store.unsent().has("a")], by).toEqual(["answered", by === ann.id ? undefined : "it is not known", by !== ann.id]);
    }
  });

  it("C24 refused after a blank push: click and draft come back", async () => {
    const test = await page();
    picks(test);
    await test.pass();
    const before = answers(test);
    const held = test.client.holdBack("respond");
    test.store.asks.submit(M, "a");
    await push(test, {});
    expect(staged(test)).toMatchObject({ submitted: true });
    expect(staged(test)?.answers.size).toBe(0);
    held.fail(new Failure("unavailable", "away"));
    await test.pass();
    expect(answers(test)).toEqual(before);
    expect(staged(test)?.error).toBe("away");
  });

  it("C25 a push of an ask that nobody touched is shown as it came", async () => {
    const test = await page();
    const version = message(1, [asking(ask("a", all))], { authorId: bot.id });
    test.server.tell({ kind: "message_updated", message: version });
    await test.pass();
    const [block] = version.blocks;
    expect(shown(test)).toBe(block?.kind === "ask" ? block.ask : undefined);
    expect(test.store.staged().size).toBe(0);
  });

  it("C26 other questions, options or arity: the push wins and what was staged is gone", async () => {
    const changes: Record<string, readonly AskQuestion[]> = {
      "an extra question": [...all, question("new")],
      "a renamed question": [{ ...single, id: "other" }, multi, free],
      "changed options": [{ ...single, options: [option("0"), option("9")] }, multi, free],
      "reordered options": [{ ...single, options: [option("1"), option("0")] }, multi, free],
      "flipped arity": [{ ...single, multiple: true }, multi, free],
    };
    for (const [what, questions] of Object.entries(changes)) {
      const test = await page();
      picks(test);
      await push(test, { questions });
      expect(test.store.staged().size, what).toBe(0);
      expect(shown(test)?.questions, what).toEqual(questions);
    }
  });

  it("C27 an open push keeps picks and drafts; a closed one wins, skipped or text only", async () => {
    const test = await page();
    picks(test);
    await test.pass();
    const before = answers(test);
    await push(test, {});
    expect(answers(test)).toEqual(before);
    for (const customText of ["", "only text"]) {
      const other = await page();
      picks(other);
      await push(other, { questions: all.map((each) => ({ ...each, customText: each.id === "free" ? customText : "" })), end: { kind: "answered", by: "user-ben", at: 5 } });
      expect(other.store.staged().size).toBe(0);
      other.store.asks.submit(M, "a");
      expect(sent(other)).toEqual([]);
    }
  });

  it("C31 a withdrawal drops what was staged and locks the ask", async () => {
    const test = await page();
    picks(test);
    test.server.cancel("a");
    await test.pass();
    expect(shown(test)?.end.kind).toBe("cancelled");
    expect(test.store.staged().size).toBe(0);
    expect(test.store.state().openAsks.size).toBe(0);
    picks(test);
    test.store.asks.submit(M, "a");
    expect(sent(test)).toEqual([]);
  });

  it("C31 the withdrawal comes first, then the refusal: no error, nothing comes back, the funnel is told", async () => {
    const test = await page();
    picks(test);
    const held = test.client.holdBack("respond");
    test.store.asks.submit(M, "a");
    test.server.cancel("a");
    await test.pass();
    held.fail(new Failure("already", 'ask "a" is cancelled'));
    await test.pass();
    expect(staged(test)).toBeUndefined();
    expect(test.errors).toHaveLength(1);
    expect(test.errors[0]).toMatchObject({ where: "ask" });
  });

  it("C31 the refusal comes first, then the withdrawal: staged again with the error, then gone", async () => {
    const test = await page(all, false);
    picks(test);
    test.server.cancel("a");
    test.store.asks.submit(M, "a");
    await test.pass();
    expect(staged(test)).toMatchObject({ submitted: false, error: 'ask "a" is cancelled' });
    expect(staged(test)?.answers.size).toBe(3);
    test.client.deliver();
    await test.pass();
    expect(shown(test)?.end.kind).toBe("cancelled");
    expect(staged(test)?.answers.size ?? 0).toBe(0);
  });
});

describe("a reload", () => {
  it("finds what was staged, as far as it still fits, and forgets what closed meanwhile", async () => {
    const first = await page();
    picks(first);
    await first.pass();
    const before = answers(first);
    first.store.dispose();
    const again = await testStore(new FakeClient(first.server), { session: first.session });
    expect(Object.fromEntries(again.store.staged().get("a")?.answers ?? [])).toEqual(before);
    again.store.dispose();
    first.server.cancel("a");
    const late = await testStore(new FakeClient(first.server), { session: first.session });
    expect(late.store.staged().size).toBe(0);
    expect(first.session.items.size).toBe(0);
  });

  it("believes nothing that is not there, and nothing of another person", async () => {
    const test = await page();
    const name = `compass:staged:${ann.id}`;
    test.session.setItem(name, JSON.stringify({ a: { one: { chosen: ["0", "1", "9"], text: "x" }, no: { chosen: [], text: "y" }, many: 7 }, b: [] }));
    const again = await testStore(new FakeClient(test.server), { session: test.session });
    expect(Object.fromEntries(again.store.staged().get("a")?.answers ?? [])).toEqual({ one: { chosen: ["0"], text: "" } });
    const other = await testStore(new FakeClient(test.server), { session: test.session, me: "user-ben" });
    expect(other.store.staged().size).toBe(0);
  });
});
