/** From the sign-in to an answer without a pointer, and no key that answers by accident. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { topicPath } from "../src/router/paths";
import { composerText, messageText, signInText, topicText } from "../src/strings";
import { AskOnPage } from "./support/ask";
import { messageField, shownMessage } from "./support/composer";
import { atRest } from "./support/measure";
import { Scene } from "./support/scene";

const scene = Scene.ofFile();

/** What answers an ask. */
const RESPOND = "RespondToAsk";

/** Presses Tab until the focus is on what is named; gives how often. */
async function tabTo(page: Page, name: RegExp, limit = 80): Promise<number> {
  for (let count = 1; count <= limit; count++) {
    await page.keyboard.press("Tab");
    if (name.test(await focused(page))) return count;
  }
  throw new Error(`Tab does not reach ${name.source}`);
}

/** The name of what has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (element === null) return "";
    const labels = (element.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "");
    const of = element instanceof HTMLInputElement ? [...(element.labels ?? [])].map((label) => label.textContent) : [];
    return [element.getAttribute("aria-label") ?? "", ...labels, ...of, element.textContent].join(" ").trim();
  });
}

/** Whether the focus can be seen: an outline or a shadow that is there with it. */
function focusIsVisible(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (element === null) return false;
    const style = getComputedStyle(element);
    return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
  });
}

it("signs in, moves to an ask, picks, sends", async () => {
  const { askId } = await scene.ask("By keyboard?");
  const tab = await scene.guest();
  const { page } = tab;
  await page.goto(`/sign-in#${await scene.admin.secretFor(scene.admin.accountId)}`);
  await page.getByText(signInText.linkReady).waitFor();
  await tabTo(page, new RegExp(`^${signInText.signIn}$`));
  expect(await focusIsVisible(page)).toBe(true);
  await page.keyboard.press("Enter");
  const ask = new AskOnPage(page, askId);
  await ask.block.waitFor();
  await page.keyboard.press("j");
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("data-ask"))).toBe(askId);
  await tabTo(page, /\bYes\b/, 8);
  expect(await focusIsVisible(page)).toBe(true);
  await page.keyboard.press("ArrowDown");
  expect(await focused(page)).toMatch(/\bNo\b/);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Space");
  expect(await ask.option("Yes").getAttribute("aria-pressed")).toBe("true");
  await tabTo(page, /^Send answer/, 8);
  await page.keyboard.press("Enter");
  await ask.answeredBy.waitFor();
  expect(await scene.admin.answers(scene.agent.homeChannelId)).toHaveLength(1);
}, 90_000);

it("number keys pick in the ask that has the focus, and send nothing", async () => {
  const tab = await scene.tab();
  const onPage = async (question: string) => new AskOnPage(tab.page, (await scene.ask(question)).askId);
  const [first, second] = [await onPage("First by number?"), await onPage("Second by number?")];
  await tab.page.goto("/");
  await Promise.all([first, second].map((ask) => ask.block.waitFor()));
  await tab.page.keyboard.press("2");
  for (const ask of [first, second]) expect(await ask.option("No").getAttribute("aria-pressed")).toBe("false");
  await second.option("Yes").focus();
  await tab.page.keyboard.press("2");
  expect(await second.option("No").getAttribute("aria-pressed")).toBe("true");
  expect(await first.option("No").getAttribute("aria-pressed")).toBe("false");
  await tab.page.keyboard.press("Enter");
  // What is asked afterwards is shown: a call would have begun before.
  await (await onPage("Third by number?")).block.waitFor();
  expect(tab.called(RESPOND)).toBe(0);
  await second.submit.click();
  await second.answeredBy.waitFor();
  expect(tab.called(RESPOND)).toBe(1);
});

it("nothing that is typed into the composer answers an ask, and Enter in an ask's field sends nothing", async () => {
  const { tab, page, ask } = await scene.atAsk("Untouched?");
  await ask.block.waitFor();
  await messageField(page).pressSequentially("1 2 Yes y j k g i ? / ");
  expect(await messageField(page).inputValue()).toBe("1 2 Yes y j k g i ? / ");
  for (const label of ["Yes", "No"]) expect(await ask.option(label).getAttribute("aria-pressed")).toBe("false");
  await messageField(page).press("Enter");
  await ask.field().fill("My words");
  await ask.field().press("Enter");
  await scene.shows(page, "Posted after Enter.");
  expect(tab.called(RESPOND)).toBe(0);
  expect(await ask.field().inputValue()).toBe("My words");
  await ask.submit.click();
  await ask.answeredBy.waitFor();
  expect(tab.called(RESPOND)).toBe(1);
});

it("the messages of a topic are one stop on the way to the composer, and j and k move among them in view of the person", async () => {
  const channel = await scene.admin.addChannel("keys", ["bot"]);
  let topicId = "";
  for (let count = 0; count < 30; count += 1) ({ topicId } = await scene.agent.post("Keys", `Message ${count.toString()} with [a link](https://example.com)\n\n${count === 0 ? `\`\`\`\n${"cut ".repeat(200)}\n\`\`\`` : "word ".repeat(80)}`, channel.id));
  await scene.agent.post("Keys", "```\nshort\n```", channel.id);
  const { page } = await scene.tab();
  await page.goto(topicPath(channel.id, topicId));
  await shownMessage(page, "Message 29").waitFor();
  await atRest(page);
  await page.getByRole("button", { name: topicText.settings }).focus();
  await tabTo(page, new RegExp(messageText.stream("Keys")), 1);
  await tabTo(page, new RegExp(composerText.label), 1);
  await page.getByRole("button", { name: topicText.settings }).focus();
  await page.keyboard.press("j");
  expect(await focused(page)).toContain("short");
  for (let count = 29; count >= 0; count -= 1) {
    await page.keyboard.press("k");
    await expect.poll(() => focused(page)).toContain(`Message ${count.toString()} `);
    expect(await page.evaluate(() => document.activeElement?.getBoundingClientRect().top)).toBeGreaterThan(0);
  }
  expect(await focusIsVisible(page)).toBe(true);
  expect(await tabTo(page, new RegExp(`^${messageText.copyLink}$`), 2)).toBe(2);
  await tabTo(page, /^a link$/, 1);
  // What is cut off can be scrolled to.
  await tabTo(page, /^Code/, 1);
  // Far from the end there is a way back to it.
  await tabTo(page, new RegExp(`^${messageText.jumpToLatest}`), 1);
  await tabTo(page, new RegExp(composerText.label), 1);
});
