/** Moves between the asks of the inbox. */

const ASK = "[data-ask]";

/** Focuses the next (1) or previous (-1) ask; from outside the list the first or last one. False if there is none. */
export const nextAsk = (list: HTMLElement | undefined, step: 1 | -1): boolean => {
  const asks = list ? [...list.querySelectorAll<HTMLElement>(ASK)] : [];
  const at = asks.findIndex((ask) => ask.contains(document.activeElement));
  const to = at < 0 ? (step === 1 ? 0 : asks.length - 1) : at + step;
  const ask = asks[Math.min(Math.max(to, 0), asks.length - 1)];
  if (!ask) return false;
  ask.focus({ preventScroll: true });
  ask.closest("[data-inbox-item]")?.scrollIntoView({ block: "nearest" });
  return true;
};

/** When the ask that holds the focus goes, the one that takes its place gets it. Nothing else moves the focus. */
export const keepFocus = (list: HTMLElement): (() => void) => {
  let held: { readonly ask: HTMLElement; readonly index: number } | undefined;
  const enter = (event: FocusEvent) => {
    const ask = event.target instanceof Element ? event.target.closest<HTMLElement>(ASK) : null;
    held = ask ? { ask, index: [...list.querySelectorAll(ASK)].indexOf(ask) } : undefined;
  };
  const leave = (event: FocusEvent) => {
    const left = held;
    if (event.relatedTarget instanceof Node && list.contains(event.relatedTarget)) return;
    queueMicrotask(() => {
      if (held === left && left?.ask.isConnected) held = undefined;
    });
  };
  const observer = new MutationObserver(() => {
    if (!held || held.ask.isConnected) return;
    const asks = [...list.querySelectorAll<HTMLElement>(ASK)];
    const heir = asks[Math.min(held.index, asks.length - 1)];
    held = undefined;
    if (document.activeElement === document.body) heir?.focus({ preventScroll: true });
  });
  observer.observe(list, { childList: true, subtree: true });
  list.addEventListener("focusin", enter);
  list.addEventListener("focusout", leave);
  return () => {
    observer.disconnect();
    list.removeEventListener("focusin", enter);
    list.removeEventListener("focusout", leave);
  };
};
