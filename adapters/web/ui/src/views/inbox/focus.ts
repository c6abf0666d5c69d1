/** Moves between the asks of the inbox, and keeps the focus when the ask that holds it ends. */
import type { AskId } from "../../model/types";

const ASK = "[data-ask]";

/** Focuses the next (1) or previous (-1) ask; from outside the list the first or last one. False if there is none. */
export const nextAsk = (list: HTMLElement | undefined, step: 1 | -1): boolean => {
  const asks = list ? [...list.querySelectorAll<HTMLElement>(ASK)] : [];
  const at = asks.findIndex((ask) => itemOf(ask)?.contains(document.activeElement));
  // What stands around an ask comes before it.
  const before = step === 1 && asks[at]?.contains(document.activeElement) === false;
  const to = at < 0 ? (step === 1 ? 0 : asks.length - 1) : before ? at : at + step;
  const ask = asks[Math.min(Math.max(to, 0), asks.length - 1)];
  if (!ask) return false;
  ask.focus({ preventScroll: true });
  itemOf(ask)?.scrollIntoView({ block: "nearest" });
  return true;
};

/** The ask that holds the focus. */
export const askInFocus = (): AskId | undefined => document.activeElement?.closest<HTMLElement>(ASK)?.dataset["ask"];

/** Focuses the heading of an ask; false if it is not there. */
export const focusHeading = (list: HTMLElement | undefined, askId: AskId | undefined): boolean => {
  const ask = [...(list?.querySelectorAll<HTMLElement>(ASK) ?? [])].find((each) => each.dataset["ask"] === askId);
  const heading = ask && itemOf(ask)?.querySelector<HTMLElement>("[data-ask-heading]");
  if (!heading) return false;
  heading.focus({ preventScroll: true });
  itemOf(heading)?.scrollIntoView({ block: "nearest" });
  return true;
};

const itemOf = (element: HTMLElement): HTMLElement | null => element.closest<HTMLElement>("[data-inbox-item]");
