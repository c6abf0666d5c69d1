/** The address bar as a signal. Links of the page are followed without loading it anew. */
import { createSignal } from "solid-js";
import { parseRoute } from "./route";
import type { Route } from "./route";

export interface Router {
  /** Reactive. */
  readonly route: () => Route;
  /** Counts every move, also to the address that is shown already. */
  readonly moves: () => number;
  /** Returns the number of the move. */
  go(path: string, how?: { readonly replace?: boolean }): number;
  dispose(): void;
}


export const createRouter = (win: Window = window): Router => {
  const read = (): Route => parseRoute(win.location.pathname, win.location.search);
  const [route, setRoute] = createSignal<Route>(read());
  const [moves, setMoves] = createSignal(0);
  let count = 0;
  const moved = () => {
    count += 1;
    setRoute(read());
    setMoves(count);
    return count;
  };
  const go: Router["go"] = (path, how = {}) => {
    if (how.replace) win.history.replaceState(null, "", path);
    else if (path !== win.location.pathname + win.location.search) win.history.pushState(null, "", path);
    return moved();
  };
  const follow = (event: MouseEvent) => {
    const path = followed(event, win.location.origin);
    if (path === undefined) return;
    event.preventDefault();
    go(path);
  };
  win.addEventListener("popstate", moved);
  win.document.addEventListener("click", follow);
  const dispose = () => {
    win.removeEventListener("popstate", moved);
    win.document.removeEventListener("click", follow);
  };
  return { route, moves, go, dispose };
};

/** The path of the page that a click leads to; undefined if the click is the browser's: new tab, download, another site. */
export const followed = (event: MouseEvent, origin: string): string | undefined => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return undefined;
  const anchor = event.target instanceof Element ? event.target.closest("a") : null;
  if (!(anchor instanceof HTMLAnchorElement) || !anchor.hasAttribute("href")) return undefined;
  if (anchor.target !== "" && anchor.target !== "_self") return undefined;
  if (anchor.hasAttribute("download") || anchor.origin !== origin) return undefined;
  // A place on the page that is shown, such as the main part for the skip link.
  if (anchor.getAttribute("href")?.startsWith("#")) return undefined;
  return anchor.pathname + anchor.search;
};
