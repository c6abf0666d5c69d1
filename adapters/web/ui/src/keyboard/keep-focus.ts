/** Where the focus goes when what holds it is taken out of the page: a browser lets it fall to <body>. */
import { watchTyping } from "./typing";

export interface Heirs {
  /** Selects what is alike in every row of a list: that of the next row takes the focus, else that of the row before. */
  readonly among?: string;
  /** Takes it otherwise. */
  readonly or?: (gone: HTMLElement) => Element | null | undefined;
}

const heirsOf = new WeakMap<Element, Heirs>();

/** For `ref`: who takes the focus that goes from inside the element. Of nested ones the innermost that has somebody decides. */
export const keepFocus =
  (heirs: Heirs) =>
  (element: Element): void => {
    heirsOf.set(element, heirs);
  };

/** What is asked when the focus is gone, the nearest first; told while it is still there. */
interface Will {
  readonly heirs: Heirs;
  readonly rows: readonly HTMLElement[];
}

/** Follows the focus until the returned function is called. `last` takes it where nobody nearer does. */
export const watchFocus = (last: () => HTMLElement | undefined): (() => void) => {
  let held: HTMLElement | undefined;
  let wills: readonly Will[] = [];
  /** The elements around it: an element that is gone has none. */
  let around: readonly Element[] = [];
  const look = () => {
    const at = held;
    wills = at ? around.flatMap((element) => willOf(element, at)) : [];
  };
  const enter = (event: FocusEvent) => {
    held = event.target instanceof HTMLElement ? event.target : undefined;
    around = held ? withAncestors(held) : [];
    look();
  };
  const leave = () => {
    const left = held;
    // Some browsers tell of the focus going when the element is taken out, which is told apart only afterwards.
    queueMicrotask(() => {
      if (held === left && left?.isConnected && document.activeElement !== left) held = undefined;
    });
  };
  const settle = () => {
    if (!held) return;
    if (held.isConnected) {
      look();
      return;
    }
    const gone = held;
    held = undefined;
    if (document.activeElement !== document.body) return;
    for (const { heirs, rows } of wills) {
      if (rows.some(takes) || takes(heirs.or?.(gone))) return;
    }
    last()?.focus({ preventScroll: true });
  };
  const observer = new MutationObserver(settle);
  observer.observe(document.body, { childList: true, subtree: true });
  document.addEventListener("focusin", enter);
  document.addEventListener("focusout", leave);
  const endTyping = watchTyping();
  return () => {
    endTyping();
    observer.disconnect();
    document.removeEventListener("focusin", enter);
    document.removeEventListener("focusout", leave);
  };
};

const withAncestors = (element: Element): readonly Element[] => [element, ...(element.parentElement ? withAncestors(element.parentElement) : [])];

const willOf = (element: Element, held: HTMLElement): readonly Will[] => {
  const heirs = heirsOf.get(element);
  if (!heirs) return [];
  const all = heirs.among === undefined ? [] : [...element.querySelectorAll<HTMLElement>(heirs.among)];
  const at = all.findIndex((each) => each === held || (held.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0);
  const from = at < 0 ? all.length : at;
  return [{ heirs, rows: [...all.slice(from), ...all.slice(0, from).reverse()] }];
};

/** Brings the focus to what a person asked for a while ago, unless they are at something else of the page by now. */
export const focusLate = (element: HTMLElement, around: Element): void => {
  const at = document.activeElement;
  if (at === null || at.contains(around) || around.contains(at)) element.focus({ preventScroll: true });
};

/** False for what is gone as well or takes no focus. */
const takes = (element: Element | null | undefined): boolean => {
  if (!(element instanceof HTMLElement) || element === document.body || !element.isConnected) return false;
  element.focus();
  return document.activeElement === element;
};
