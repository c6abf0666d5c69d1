/** What a person would see of a layout that does not fit. */
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
