/** A group with one tab stop: arrows move inside it, what is pushed in or out never takes the focus. */
import { onSettled, useContext } from "solid-js";
import { rovingTarget } from "./roving";
import { AppContext } from "../shell/app";
import { keepFocus } from "./keep-focus";

/** Elements that the arrows of a group reach. */
const STOP = "[data-stop]";

/** For `ref`: makes the element such a group. Its stops carry `data-stop` and `tabindex="-1"`. */
export const group = (): ((element: HTMLElement) => void) => {
  const { keys } = useContext(AppContext);
  let element: HTMLElement | undefined;
  onSettled(() => (element ? manage(element, (on, press) => keys.group(on, press)) : undefined));
  return (at) => {
    element = at;
  };
};

type Register = (element: Element, keys: (event: KeyboardEvent) => boolean) => () => void;

/** Keeps exactly one stop reachable by Tab until the returned function is called. */
export const manage = (element: HTMLElement, register: Register): (() => void) => {
  /** Until the focus was on a stop, that of what is shown is reached first, however late it is made. */
  let isChosen = false;
  const stops = () => [...element.querySelectorAll<HTMLElement>(STOP)];
  const select = (stop: HTMLElement | undefined) => {
    for (const each of stops()) {
      const index = each === stop ? 0 : -1;
      // Written only where it changes: there may be hundreds.
      if (each.tabIndex !== index) each.tabIndex = index;
    }
  };
  const settle = () => {
    const all = stops();
    const current = all.find((each) => each.getAttribute("aria-current") === "page");
    const before = all.find((each) => each.tabIndex === 0);
    select((isChosen ? before : undefined) ?? current ?? before ?? all[0]);
  };
  // The focused stop was taken away: the focus was here, so it stays here.
  const heir = () => {
    settle();
    return stops().find((each) => each.tabIndex === 0);
  };
  const enter = (event: FocusEvent) => {
    const stop = event.target instanceof Element ? event.target.closest<HTMLElement>(STOP) : null;
    if (!stop) return;
    isChosen = true;
    select(stop);
  };
  const press = (event: KeyboardEvent): boolean => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false;
    const all = stops();
    const from = all.findIndex((each) => each === document.activeElement);
    const to = from < 0 ? undefined : rovingTarget(event.key, from, all.length);
    const stop = to === undefined ? undefined : all[to];
    if (!stop) return false;
    stop.focus();
    return true;
  };
  const observer = new MutationObserver(settle);
  observer.observe(element, { childList: true, subtree: true });
  element.addEventListener("focusin", enter);
  keepFocus({ or: heir })(element);
  const unregister = register(element, press);
  settle();
  return () => {
    observer.disconnect();
    element.removeEventListener("focusin", enter);
    unregister();
  };
};
