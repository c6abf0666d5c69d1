/** The address bar as a signal. Links of the page are followed without loading it anew. */
import { createSignal } from "solid-js";
import { parseRoute } from "./route";
import type { Route } from "./route";

export interface Router {
  /** Reactive. */
  readonly route: () => Route;
  /** Counts every move, also to the address that is shown already. */
  readonly moves: () => number;
  /** The last move that the person made; the page makes those that replace the address. */
  readonly wanted: () => number;
  /** What names the entry of the browser's history: back and forward come to the same one again. */
  readonly entry: () => unknown;
  /** True if the last move came back to an entry. */
  readonly isBack: () => boolean;
  /** Calls back before anything changes because of a move; the result ends that. */
  leaving(then: () => void): () => void;
  /** Comes back to where the person was; to the path if the page began here. */
  back(otherwise: string): void;
  /** Returns the number of the move. */
  go(path: string, how?: { readonly replace?: boolean }): number;
  dispose(): void;
}

export const createRouter = (win: Window = window): Router => {
  const read = (): Route => parseRoute(win.location.pathname, win.location.search);
  const [route, setRoute] = createSignal<Route>(read());
  const [moves, setMoves] = createSignal(0);
  const { history } = win;
  /** Entries are given a name when the page first comes to them. */
  const named = (): unknown => {
    if (history.state === null) history.replaceState(Math.random(), "");
    return history.state;
  };
  let [count, wanted, entry, isBack] = [0, 0, named(), false];
  const leavers = new Set<() => void>();
  /** Entries that the person came to from another one of this page. */
  const trail = new Set<unknown>();
  const moved = (back: boolean) => {
    count += 1;
    [entry, isBack] = [named(), back];
    setRoute(read());
    setMoves(count);
    return count;
  };
  const leave = () => {
    for (const then of leavers) then();
  };
  const go: Router["go"] = (path, how = {}) => {
    leave();
    if (how.replace) history.replaceState(entry, "", path);
    else if (path !== win.location.pathname + win.location.search) history.pushState(null, "", path);
    const before = entry;
    const move = moved(false);
    if (!how.replace) wanted = move;
    if (entry !== before) trail.add(entry);
    return move;
  };
  // The history is there already, the page still shows what it leaves.
  const pop = () => {
    leave();
    wanted = moved(true);
  };
  const back: Router["back"] = (otherwise) => {
    if (trail.has(entry)) history.back();
    else go(otherwise);
  };
  const follow = (event: MouseEvent) => {
    const path = followed(event, win.location.origin);
    if (path === undefined) return;
    event.preventDefault();
    go(path);
  };
  win.addEventListener("popstate", pop);
  win.document.addEventListener("click", follow);
  const dispose = () => {
    win.removeEventListener("popstate", pop);
    win.document.removeEventListener("click", follow);
  };
  const leaving = (then: () => void) => {
    leavers.add(then);
    return () => void leavers.delete(then);
  };
  return { route, moves, wanted: () => wanted, entry: () => entry, isBack: () => isBack, leaving, back, go, dispose };
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
