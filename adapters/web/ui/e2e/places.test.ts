/** What a person looks at stays where it is: over moves to and fro, while asks arrive, and without a network. */
import { expect, it } from "vitest";
import { agentPath, channelPath, helpPath, messagePath, topicPath } from "../src/router/paths";
import { inboxText, messageText, shellText, titleText } from "../src/strings";
import { AskOnPage } from "./support/ask";
import { boxOf, settled, sideways } from "./support/measure";
import { Scene } from "./support/scene";

const scene = Scene.ofFile();

const top = (selector: string) => (document.querySelector(selector)?.scrollTop ?? -1);

it("newest first: an ask that arrives moves nothing, and is shown when it is asked for", async () => {
  const first = await scene.ask("First?");
  await scene.ask("Second?");
  const tab = await scene.tab();
  await tab.page.goto("/");
  await tab.page.getByRole("combobox", { name: inboxText.order }).selectOption("newest");
  const ask = new AskOnPage(tab.page, first.askId);
  const before = await settled(tab.page, () => boxOf(ask.option("Yes")));
  const third = await scene.ask("Third?");
  const button = tab.page.getByRole("button", { name: inboxText.held(1) });
  await button.waitFor();
  expect(await boxOf(ask.option("Yes"))).toEqual(before);
  await button.click();
  await new AskOnPage(tab.page, third.askId).option("Yes").waitFor();
  expect(await tab.page.evaluate(() => document.activeElement?.closest("[data-inbox-item]")?.querySelector("[data-ask]")?.getAttribute("data-ask"))).toBe(third.askId);
}, 60_000);

it("back and forward come to where the inbox, a channel and a topic were, a link to the beginning", async () => {
  const channel = await scene.admin.addChannel("long", ["bot"]);
  let topicId = "";
  for (let count = 0; count < 40; count += 1) ({ topicId } = await scene.agent.post("Long", `Message ${count.toString()} ${"word ".repeat(60)}`, channel.id));
  for (let count = 0; count < 6; count += 1) await scene.ask(`Ask ${count.toString()}?`);
  const tab = await scene.tab(scene.admin, { viewport: { width: 1024, height: 500 } });
  await tab.page.goto("/");
  await tab.page.getByText("Ask 5?").waitFor();
  await tab.page.evaluate(() => document.querySelector("main")?.scrollTo(0, 700));
  await tab.page.locator(`a[href="${channelPath(channel.id)}"]`).first().click();
  await tab.page.getByRole("heading", { level: 1, name: "long" }).waitFor();
  expect(await tab.page.evaluate(top, "main")).toBe(0);
  await tab.page.locator(`main a[href="${topicPath(channel.id, topicId)}"]`).first().click();
  await tab.page.getByText("Message 39").waitFor();
  const scroll = tab.page.getByRole("region", { name: messageText.stream("Long") });
  await scroll.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
  const inView = () => tab.page.evaluate(() => {
    const view = document.querySelector(".stream-scroll")?.getBoundingClientRect();
    const row = [...document.querySelectorAll("[data-message]")].find((each) => each.getBoundingClientRect().bottom > (view?.top ?? 0));
    return { id: row?.getAttribute("data-message"), top: Math.round(row?.getBoundingClientRect().top ?? 0) };
  });
  // Rows are measured as they come into view.
  const seen = await settled(tab.page, inView);
  await tab.page.locator(`a[href="${helpPath}"]`).first().click();
  await tab.page.getByRole("heading", { level: 1, name: titleText.help }).waitFor();
  await tab.page.goBack();
  await expect.poll(inView).toEqual(seen);
  await tab.page.goBack();
  await tab.page.getByRole("heading", { level: 1, name: "long" }).waitFor();
  await tab.page.goBack();
  await expect.poll(() => tab.page.evaluate(top, "main")).toBe(700);
  await tab.page.goForward();
  await tab.page.goForward();
  await expect.poll(inView).toEqual(seen);
  await tab.page.locator('a[href="/"]').first().click();
  await tab.page.getByText("Ask 5?").waitFor();
  expect(await tab.page.evaluate(top, "main")).toBe(0);
}, 120_000);

it("a browser that goes offline is told of at once, and what came meanwhile is there at once afterwards", async () => {
  const tab = await scene.tab();
  await tab.page.goto("/");
  await tab.page.getByRole("main").getByText("First?").waitFor();
  await tab.context.setOffline(true);
  await tab.page.getByText(shellText.offline).waitFor({ timeout: 1_500 });
  await scene.ask("While offline?");
  // Longer than what came is waited for below.
  await tab.page.getByText(new RegExp(shellText.retryIn(0).replace("0", "([3-9]|\\d{2,})"))).waitFor({ timeout: 40_000 });
  await tab.context.setOffline(false);
  await tab.page.getByText("While offline?").waitFor({ timeout: 2_000 });
  await tab.page.getByText(shellText.offline).waitFor({ state: "hidden" });
}, 60_000);

it("a link to a message shows it, though what stands below it is higher than was thought", async () => {
  const channel = await scene.admin.addChannel("tall", ["bot"]);
  const posts = [];
  for (const text of ["The first.", "The second.", "The third."]) posts.push(await scene.agent.post("Tall", text, channel.id));
  const options = Array.from({ length: 12 }, (_, index) => `Option ${index.toString()}`);
  await scene.agent.ask("Tall", [{ id: "q", question: "Which of so many?", options }], channel.id);
  const tab = await scene.tab();
  const second = posts[1];
  if (second === undefined) throw new Error("nothing was posted");
  const shown = tab.page.locator(`[data-message="${second.id}"]`);
  await tab.page.goto(messagePath(channel.id, second.topicId, second.id));
  await shown.waitFor();
  await expect.poll(() => shown.evaluate((element) => element === document.activeElement)).toBe(true);
  const place = () => shown.evaluate((element) => element.getBoundingClientRect().top - (element.closest(".stream-scroll")?.getBoundingClientRect().top ?? 0));
  await expect.poll(place).toBeGreaterThanOrEqual(0);
  expect(await place()).toBeLessThan(200);
  // It stays there while more arrives.
  await scene.agent.post("Tall", "One more.", channel.id);
  await tab.page.locator("[data-message]", { hasText: "One more." }).waitFor({ state: "attached" });
  expect(await place()).toBeGreaterThanOrEqual(0);
}, 60_000);

it("long names are cut in a topic's head, and rows of an agent's view keep their parts apart", async () => {
  const { topicId } = await scene.agent.post("W".repeat(120), "Something to read.");
  const tab = await scene.tab(scene.admin, { viewport: { width: 320, height: 640 } });
  await tab.page.goto(topicPath(scene.agent.homeChannelId, topicId));
  await tab.page.getByText("Something to read.").waitFor();
  expect(await sideways(tab.page)).toEqual([]);
  const head = tab.page.getByRole("heading", { level: 1 });
  const { inside, lines } = await head.evaluate((element) => ({
    inside: element.getBoundingClientRect().right <= window.innerWidth && element.scrollHeight > element.clientHeight,
    lines: Math.round(element.clientHeight / parseFloat(getComputedStyle(element).lineHeight)),
  }));
  expect({ inside, lines }).toEqual({ inside: true, lines: 2 });
  expect(await head.getAttribute("title")).toBe("W".repeat(120));
  // Opened by its address, so that no other view has brought its looks.
  await tab.page.goto(agentPath(scene.agent.account.id));
  const row = tab.page.locator(".topic-row").first();
  await row.waitFor();
  expect(await row.evaluate((element) => [getComputedStyle(element).display, getComputedStyle(element).listStyleType])).toEqual(["flex", "none"]);
}, 60_000);
