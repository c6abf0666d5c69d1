/** What a person would see of a layout: where it does not fit, and once it stands still. */
import { expect } from "vitest";
import type { Tab } from "./browser";

/** What can be scrolled sideways or sticks out, but for code and tables, which scroll in a box of their own. */
export function sideways(tab: Tab): Promise<string[]> {
  return tab.page.evaluate(() =>
    [...document.querySelectorAll("*")]
      .filter((element) => {
        const isBox = element.matches("pre, textarea, input") || element.querySelector(":scope > table") !== null;
        const scrolls = element === document.documentElement || ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
        return !isBox && scrolls && element.scrollWidth > element.clientWidth + 1;
      })
      .map((element) => `${element.tagName} ${element.className}: ${element.scrollWidth.toString()} px in ${element.clientWidth.toString()} px`),
  );
}

/** What is measured, once it is the same for two frames. */
export async function settled<T>(tab: Tab, measure: () => Promise<T>): Promise<T> {
  let before = await measure();
  await expect
    .poll(async () => {
      await tab.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      const last = before;
      before = await measure();
      return { last, now: before };
    })
    .toSatisfy(({ last, now }: { readonly last: T; readonly now: T }) => JSON.stringify(last) === JSON.stringify(now));
  return before;
}
