/** What holds the focus, as in a browser: there it falls from a disabled element, which is not so in the tests' document. */
export const focused = (): Element | null => (document.activeElement?.matches(":disabled") === true ? document.body : document.activeElement);

/** A turn of the event loop: what watches the document has seen what changed. */
export const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Presses a key where the focus is, at a time in ms. True if it is left to the browser. */
export const pressAt = (key: string, at: number, change: KeyboardEventInit = {}): boolean => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...change });
  Object.defineProperty(event, "timeStamp", { value: at });
  return (focused() ?? document.body).dispatchEvent(event);
};

/** Types as a browser does, without a pause however slow the test is: what no key took is written at the caret of the field that has the focus. */
export const typeOn = (text: string): void => {
  for (const key of text) {
    const field = focused();
    if (!pressAt(key, 0)) continue;
    if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) || field.readOnly) continue;
    field.setRangeText(key, field.selectionStart ?? 0, field.selectionEnd ?? 0, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
};
