/** What holds the focus, as in a browser: there it falls from a disabled element, which is not so in the tests' document. */
export const focused = (): Element | null => (document.activeElement?.matches(":disabled") === true ? document.body : document.activeElement);

/** A turn of the event loop: what watches the document has seen what changed. */
export const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
