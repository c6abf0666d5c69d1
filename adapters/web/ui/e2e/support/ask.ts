/** An ask as a person sees it on the page. */
import type { Locator, Page } from "playwright-core";
import { askText } from "../../src/strings";

export class AskOnPage {
  readonly block: Locator;

  constructor(page: Page, askId: string) {
    this.block = page.locator(`[data-ask="${askId}"]`);
  }

  option(label: string): Locator {
    return this.block.getByRole("button", { name: label, exact: true });
  }

  /** The text field of the only question, or of the one with this text. */
  field(question?: string): Locator {
    return question === undefined ? this.block.getByRole("textbox") : this.block.getByRole("textbox", { name: question, exact: true });
  }

  get submit(): Locator {
    return this.block.getByRole("button", { name: new RegExp(`^${askText.submit}`) });
  }

  get withdrawn(): Locator {
    return this.block.getByText(askText.withdrawn, { exact: true });
  }

  get answeredBy(): Locator {
    return this.block.getByText(askText.closedAnswered);
  }
}
