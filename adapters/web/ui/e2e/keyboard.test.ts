/** From the sign-in to an answer without a pointer, and no key that answers by accident. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { topicPath } from "../src/router/paths";
import { signInText } from "../src/strings";
import { AskOnPage } from "./support/ask";
import { messageField } from "./support/composer";
import { Scene } from "./support/scene";

const scene = Scene.ofFile();

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
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest("article, [data-ask]") !== null)).toBe(true);
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
  const first = await scene.ask("First by number?");
  const second = await scene.ask("Second by number?");
  const tab = await scene.tab();
  await tab.page.goto("/");
  const asks = [new AskOnPage(tab.page, first.askId), new AskOnPage(tab.page, second.askId)];
  await Promise.all(asks.map((ask) => ask.block.waitFor()));
  await tab.page.keyboard.press("2");
  for (const ask of asks) expect(await ask.option("No").getAttribute("aria-pressed")).toBe("false");
  await asks[1]?.option("Yes").focus();
  await tab.page.keyboard.press("2");
  expect(await asks[1]?.option("No").getAttribute("aria-pressed")).toBe("true");
  expect(await asks[0]?.option("No").getAttribute("aria-pressed")).toBe("false");
  await tab.page.keyboard.down("Enter");
  await tab.page.keyboard.up("Enter");
  const { asks: open } = await scene.admin.inbox.listOpenAsks({});
  expect(open).toHaveLength(2);
});

it("nothing that is typed into the composer answers an ask, and Enter in an ask's field sends nothing", async () => {
  const { message, askId } = await scene.ask("Untouched?");
  const tab = await scene.tab();
  await tab.page.goto(topicPath(scene.agent.homeChannelId, message.topicId));
  const ask = new AskOnPage(tab.page, askId);
  await ask.block.waitFor();
  await messageField(tab.page).pressSequentially("1 2 Yes y j k g i ? / ");
  expect(await messageField(tab.page).inputValue()).toBe("1 2 Yes y j k g i ? / ");
  for (const label of ["Yes", "No"]) expect(await ask.option(label).getAttribute("aria-pressed")).toBe("false");
  await messageField(tab.page).press("Enter");
  await ask.field().fill("My words");
  await ask.field().press("Enter");
  await tab.page.waitForTimeout(300);
  expect(await ask.submit.isVisible()).toBe(true);
  expect(await ask.field().inputValue()).toBe("My words");
  const { asks: open } = await scene.admin.inbox.listOpenAsks({});
  expect(open.some(({ message: { id } = { id: "" } }) => id === message.id)).toBe(true);
});
