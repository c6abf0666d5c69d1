/** Where a person writes, and what becomes of it. */
import type { Locator, Page } from "playwright-core";
import { composerText } from "../../src/strings";

/** The field of the composer of a topic. */
export function messageField(page: Page): Locator {
  const name = { name: composerText.label, exact: true };
  return page.getByRole("combobox", name).or(page.getByRole("textbox", name));
}

/** A message of the topic: one that the server keeps, not one that is on its way there. */
export function shownMessage(page: Page, text: string): Locator {
  return page.locator("[data-message]").filter({ hasText: text });
}
