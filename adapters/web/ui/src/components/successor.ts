/** Where one goes on typing when a topic is joined to another one, and its composer is gone with it. */
import type { TopicId } from "../model/types";

const fieldsOf = (composer: ParentNode): readonly (HTMLInputElement | HTMLTextAreaElement)[] => [...composer.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea")];

/**
 * The same field in the composer of the other topic, with the caret where it was: what was written in this one stands
 * first in it. Undefined if there is none.
 */
export const successor = (gone: Element, composer: HTMLElement, into: TopicId): HTMLElement | undefined => {
  const other = document.querySelector<HTMLElement>("[data-composer]");
  if (other?.dataset["composer"] !== into) return undefined;
  const [before, now] = [fieldsOf(composer), fieldsOf(other)];
  const at = before.findIndex((each) => each === gone);
  const left = before[at];
  if (!left) return undefined;
  // The message comes last, after what is asked.
  const isMessage = at === before.length - 1;
  const next = isMessage ? now.at(-1) : now.slice(0, -1)[at];
  if (next && left.selectionStart !== null) next.setSelectionRange(left.selectionStart, left.selectionEnd);
  return next;
};
