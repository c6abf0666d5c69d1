/** What a person would see of a layout: where it does not fit, and once it stands still. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** What can be scrolled sideways or sticks out, but for code and tables, which scroll in a box of their own. */
export function sideways(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("*")]
      .filter((element) => {
        const isBox = element.matches("pre, textarea, input") || element.querySelector(":scope > table") !== null;
        const scrolls = element === document.documentElement || ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
        return !isBox && scrolls && element.scrollWidth > element.clientWidth + 1;
      })
      .map((element) => `${element.tagName} ${element.className}: ${element.scrollWidth.toString()} px in ${element.clientWidth.toString()} px`),
  );
}

/** Where something that can be seen stands. */
export async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (box === null) throw new Error("what is measured cannot be seen");
  return box;
}

/** What is measured, once it is the same for two frames. */
export async function settled<T>(page: Page, measure: () => Promise<T>): Promise<T> {
  let before = await measure();
  await expect
    .poll(async () => {
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      const last = before;
      before = await measure();
      return { last, now: before };
    }, { timeout: 15_000 })
    .toSatisfy(({ last, now }: { readonly last: T; readonly now: T }) => JSON.stringify(last) === JSON.stringify(now));
  return before;
}

/** Waits until every text is formatted: the parser comes after the page, and then no text is plain but those that are too much for it. */
export async function formatted(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector(".md-plain:not(.md-notice ~ *)") === null);
}

/** Waits until the page has loaded what it loads ahead once it is idle, one part after another. */
export async function loadedAhead(page: Page): Promise<void> {
  // The help is the last of the views.
  await page.waitForFunction(() => performance.getEntriesByType("resource").some(({ name }) => /\/Help-[^/]*\.js$/.test(name)));
}

/** Waits until nothing of the page changes any more while it is idle and two frames are shown. */
export async function atRest(page: Page): Promise<void> {
  await formatted(page);
  await page.evaluate(async () => {
    let isChanged = true;
    const changes = new MutationObserver(() => (isChanged = true));
    changes.observe(document, { subtree: true, childList: true, characterData: true });
    while (isChanged) {
      isChanged = false;
      await new Promise((resolve) => requestIdleCallback(resolve));
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    }
    changes.disconnect();
  });
}
