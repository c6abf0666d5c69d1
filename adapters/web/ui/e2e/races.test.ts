/** An ask ends once, whoever comes first, and every page shows the end that was stored. */
import { describe, expect, it } from "vitest";
import { topicPath } from "../src/router/paths";
import { askText } from "../src/strings";
import { AskOnPage } from "./support/ask";
import { there } from "./support/api";
import { Tab } from "./support/browser";
import { HoldingProxy } from "./support/proxy";
import { Scene } from "./support/scene";

const trials = process.env["COMPASS_LONG"] === "1" ? 50 : 5;
const RESPOND = "/compass.v1.CommsService/RespondToAsk";

const scene = Scene.ofFile();

/** The end of an ask as the server has it. */
async function stored(channelId: string, messageId: string) {
  const { messages } = await scene.admin.comms.listMessages({ container: { case: "channelId", value: channelId }, limit: 200 });
  const message = there(messages.find(({ id }) => id === messageId), "message");
  const block = message.blocks[0]?.block;
  if (block?.case !== "ask") throw new Error("no ask");
  return block.value;
}

describe("two people answer at once", () => {
  it("exactly one answer is stored and the other page shows whose", async () => {
    const ben = await scene.admin.addPerson("ben");
    const channel = await scene.admin.addChannel("both", ["ben", "bot"]);
    const tabs = [await scene.tab(), await scene.tab(ben)];
    const winners = new Set<string>();
    for (let trial = 0; trial < trials; trial++) {
      const { message, askId } = await scene.ask(`Both ${trial.toString()}?`, ["First", "Second"], channel.id);
      const asks = tabs.map((tab) => new AskOnPage(tab.page, askId));
      // The asks that follow come into the topic that is shown.
      if (trial === 0) await Promise.all(tabs.map((tab) => tab.page.goto(topicPath(channel.id, message.topicId))));
      await Promise.all(asks.map((ask, index) => ask.option(index === 0 ? "First" : "Second").click()));
      // Both requests wait at the browser's door until both are there.
      let arrived = 0;
      const { promise: both, resolve: open } = Promise.withResolvers<undefined>();
      await Promise.all(
        tabs.map((tab) =>
          tab.page.route(`**${RESPOND}`, async (route) => {
            arrived += 1;
            if (arrived === tabs.length) open(undefined);
            await both;
            await route.continue();
          }),
        ),
      );
      await Promise.all(asks.map((ask) => ask.submit.click()));
      await Promise.all(asks.map((ask) => ask.answeredBy.waitFor()));
      await Promise.all(tabs.map((tab) => tab.page.unroute(`**${RESPOND}`)));
      expect(arrived).toBe(2);

      const end = await stored(channel.id, message.id);
      expect([end.answered, end.cancelled]).toEqual([true, false]);
      const winner = end.answeredByAccountId === ben.accountId ? "ben" : "admin";
      winners.add(winner);
      const chosen = winner === "ben" ? "Second" : "First";
      for (const ask of asks) {
        expect(await ask.answeredBy.textContent()).toContain(winner);
        expect(await ask.option(chosen).getAttribute("aria-pressed")).toBe("true");
        expect(await ask.option(chosen === "First" ? "Second" : "First").getAttribute("aria-pressed")).toBe("false");
        expect(await ask.submit.count()).toBe(0);
      }
      const answers = await scene.admin.answers(channel.id);
      expect(answers.filter((one) => one.blocks.some(({ block }) => block.case === "askAnswer" && block.value.ask?.askId === askId))).toHaveLength(1);
    }
    console.log(`${trials.toString()} trials, won by ${[...winners].join(" and ")}`);
  }, 300_000);
});

describe("the agent withdraws", () => {
  it("while one is typing: the ask says so, and what was typed is not sent", async () => {
    const { ask, askId } = await scene.atAsk("Typing?");
    await ask.field().pressSequentially("I think that");
    expect(await scene.agent.cancel(askId)).toBeUndefined();
    await ask.withdrawn.waitFor();
    expect(await ask.block.getByRole("status").allTextContents()).toEqual([
      askText.withdrawn,
      askText.notSentWithdrawn,
    ]);
    expect(await ask.submit.count()).toBe(0);
    expect(await ask.block.getByRole("alert").count()).toBe(0);
    expect(await ask.option("Yes").isDisabled()).toBe(true);
    expect(await scene.admin.answers(scene.agent.homeChannelId)).toHaveLength(0);
  });

  it("before a submit that is in flight: the withdrawal wins and is no error of the person's", async () => {
    const { page, message, askId, ask } = await scene.atAsk("In flight, withdrawn?");
    await ask.option("Yes").click();
    const { promise: held, resolve: go } = Promise.withResolvers<undefined>();
    await page.route(`**${RESPOND}`, async (route) => {
      await held;
      await route.continue();
    });
    const sent = page.waitForRequest(`**${RESPOND}`);
    await ask.submit.click();
    await sent;
    expect(await scene.agent.cancel(askId)).toBeUndefined();
    await ask.withdrawn.waitFor();
    go(undefined);
    // Said once the refusal is there.
    await ask.block.getByText(askText.notTakenWithdrawn).waitFor();
    expect(await ask.withdrawn.isVisible()).toBe(true);
    expect(await ask.block.getByRole("alert").count()).toBe(0);
    const end = await stored(scene.agent.homeChannelId, message.id);
    expect([end.answered, end.cancelled]).toEqual([false, true]);
  });

  it("after a submit whose reply is still out: the answer wins and the withdrawal is refused", async () => {
    const { page, message, askId, ask } = await scene.atAsk("In flight, answered?");
    await ask.option("No").click();
    const { promise: held, resolve: go } = Promise.withResolvers<undefined>();
    const { promise: kept, resolve: isStored } = Promise.withResolvers<undefined>();
    await page.route(`**${RESPOND}`, async (route) => {
      const response = await route.fetch();
      isStored(undefined);
      await held;
      await route.fulfill({ response });
    });
    await ask.submit.click();
    await kept;
    expect(await scene.agent.cancel(askId)).toBe("already_exists");
    await ask.answeredBy.waitFor();
    const replied = page.waitForResponse(`**${RESPOND}`);
    go(undefined);
    await (await replied).finished();
    await scene.shows(page, "Posted after the reply.");
    expect(await ask.answeredBy.isVisible()).toBe(true);
    expect(await ask.block.getByRole("alert").count()).toBe(0);
    const end = await stored(scene.agent.homeChannelId, message.id);
    expect([end.answered, end.cancelled]).toEqual([true, false]);
  });

  it("and the refusal arrives before the news: an error, then the end in its place", async () => {
    const proxy = await HoldingProxy.start(scene.server);
    const tab = await Tab.open(scene.browser, scene.server, { baseURL: proxy.url });
    const { message, askId } = await scene.ask("Refused first?");
    await tab.signIn(await scene.admin.secretFor(scene.admin.accountId));
    await tab.page.goto(topicPath(scene.agent.homeChannelId, message.topicId));
    const ask = new AskOnPage(tab.page, askId);
    await ask.option("Yes").click();
    proxy.hold("/SubscribeComms");
    expect(await scene.agent.cancel(askId)).toBeUndefined();
    await ask.submit.click();
    await ask.block.getByRole("alert").waitFor();
    // What was picked is back, so that the person sees what was not taken.
    expect(await ask.option("Yes").getAttribute("aria-pressed")).toBe("true");
    proxy.release();
    await ask.withdrawn.waitFor();
    expect(await ask.block.getByRole("alert").count()).toBe(0);
    await tab.close();
    await proxy.stop();
  });
});
