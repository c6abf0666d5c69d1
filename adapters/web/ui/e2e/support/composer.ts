/** Where a person writes. */
import type { Locator, Page } from "playwright-core";
import { composerText } from "../../src/strings";

/** The field of the composer of a topic. */
export function messageField(page: Page): Locator {
  const name = { name: composerText.label, exact: true };
  return page.getByRole("combobox", name).or(page.getByRole("textbox", name));
}
