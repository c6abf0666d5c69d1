/** What is told of picks and texts that an ask ended without taking. */
import { describe, expect, it } from "vitest";
import { Failure } from "../model/client";
import type { QuestionAnswer } from "../model/types";
import { question } from "../testing/builders";
import { bot, planned } from "../testing/planned";
import { testStore } from "../testing/store";
import type { TestStore } from "../testing/store";
import { findAsk } from "./staging";

const M = "message-1";
const all = [question("one"), question("many", { multiple: true, count: 3 }), question("free", { options: [] })];

/** A page whose inbox holds one ask; its topic is not open. */
const page = async () => {
  const { server, client, plan } = planned({ questions: all });
  return { ...(await testStore(client)), server, plan };
};
const picks = (test: TestStore): void => {
  test.store.asks.pick(M, "a", "one", "1");
  test.store.asks.pick(M, "a", "many", "2");
  test.store.asks.type(M, "a", "many", " both ");
  test.store.asks.type(M, "a", "free", "  words ");
};
const full: readonly QuestionAnswer[] = [
  { questionId: "one", chosen: ["1"], customText: "" },
  { questionId: "many", chosen: ["2"], customText: "both" },
  { questionId: "free", chosen: [], customText: "words" },
];

describe("what an ask that ended did not take", () => {
  const unsent = (test: TestStore) => test.store.unsent().get("a");
  const other: readonly QuestionAnswer[] = [{ questionId: "one", chosen: ["0"], customText: "" }, ...full.slice(1)];

  it("quality failure 3: picks that another's answer or a withdrawal came before are told as never sent", async () => {
    for (const end of ["answered", "cancelled"]) {
      const test = await page();
      picks(test);
      if (end === "answered") test.server.answer("a", other, "user-ben");
      else test.server.cancel("a");
      await test.pass();
      expect(unsent(test)?.refused, end).toBeUndefined();
      expect(Object.fromEntries(unsent(test)?.answers ?? []), end).toMatchObject({ one: { chosen: ["1"] }, many: { text: " both " } });
      test.store.asks.dismiss("a");
      await test.pass();
      expect(unsent(test), end).toBeUndefined();
    }
  });

  it("quality failure 3: an answer that lost the race is told as refused, whether push or refusal comes first", async () => {
    for (const order of ["push", "refusal"]) {
      const test = await page();
      picks(test);
      const held = test.client.holdBack("respond");
      test.store.asks.submit(M, "a");
      const steps = [() => test.server.answer("a", other, "user-ben"), () => held.fail(new Failure("already", "too late"))];
      for (const step of order === "push" ? steps : steps.reverse()) {
        step();
        await test.pass();
      }
      expect(unsent(test), order).toMatchObject({ refused: "too late" });
      expect(unsent(test)?.answers.get("one")?.chosen, order).toEqual(["1"]);
    }
  });

  it("a refusal after a withdrawal is still told", async () => {
    const test = await page();
    picks(test);
    const held = test.client.holdBack("respond");
    test.store.asks.submit(M, "a");
    test.server.cancel("a");
    await test.pass();
    held.fail(new Failure("already", "it is cancelled"));
    await test.pass();
    expect(unsent(test)).toMatchObject({ refused: "it is cancelled" });
  });

  it("nothing is told of an answer that was taken, of one whose reply got lost, and of an ask nobody touched", async () => {
    for (const reply of ["comes", "is lost"]) {
      const test = await page();
      picks(test);
      const held = test.client.hold("respond");
      test.store.asks.submit(M, "a");
      await test.pass();
      if (reply === "comes") held.release();
      else held.fail(new Failure("unknown", "no answer came"));
      await test.pass();
      expect(test.store.unsent().size, reply).toBe(0);
    }
    const untouched = await page();
    untouched.server.cancel("a");
    await untouched.pass();
    expect(untouched.store.unsent().size).toBe(0);
  });

  it("an ask that ends is known in its last version without its topic being open, over a new snapshot too", async () => {
    const { server, ...test } = await page();
    server.answer("a", full, "user-ben");
    await test.pass();
    expect(findAsk(test.store.state(), M, "a")?.end).toMatchObject({ kind: "answered", by: "user-ben" });
    const before = test.client.called("listChannels").length;
    test.client.epoch += 1n;
    test.client.stream.fail();
    await test.pass(60_000);
    expect(test.client.called("listChannels").length).toBeGreaterThan(before);
    expect(findAsk(test.store.state(), M, "a")?.end).toMatchObject({ kind: "answered", by: "user-ben" });
    expect(findAsk(test.store.state(), "message-2", "a")).toBeUndefined();
  });
});

describe("a channel that the person was out of", () => {
  const staged = (test: TestStore) => test.store.staged().get("a");
  const answers = (test: TestStore) => Object.fromEntries(staged(test)?.answers ?? []);

  it("brings back what was picked and typed for an ask that is still open, with what was said of it", async () => {
    const test = await page();
    picks(test);
    test.client.failNext("respond", new Failure("internal", "the disk is full"));
    test.store.asks.submit(M, "a");
    await test.pass();
    const before = answers(test);
    const members = test.plan.memberIds;
    test.server.setMembers(test.plan.id, [bot.id]);
    await test.pass();
    expect(staged(test)).toBeUndefined();
    test.server.setMembers(test.plan.id, members);
    await test.pass();
    expect([answers(test), staged(test)?.error, test.store.unsent().size]).toEqual([before, "the disk is full", 0]);
  });

  it("tells what was not sent to an ask that ended meanwhile", async () => {
    const test = await page();
    picks(test);
    const members = test.plan.memberIds;
    test.server.setMembers(test.plan.id, [bot.id]);
    await test.pass();
    test.server.answer("a", full, "user-ben");
    test.server.setMembers(test.plan.id, members);
    await test.pass();
    test.store.openTopic(test.plan.id, "topic-plan");
    await test.pass();
    expect([findAsk(test.store.state(), M, "a")?.end.kind, staged(test), test.store.unsent().get("a")?.answers.size]).toEqual(["answered", undefined, 3]);
  });
});
