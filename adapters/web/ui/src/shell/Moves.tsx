/** The page's keys, and what follows a move: the focus goes to what is shown, back and forward come to where that was scrolled to. Renders nothing. */
import { createEffect, onSettled, untrack, useContext } from "solid-js";
import type { Component } from "solid-js";
import { byEntry } from "../router/by-entry";
import { AppContext } from "./app";
import { registerKeys } from "./commands";

interface Props {
  readonly main: () => HTMLElement | undefined;
  readonly menuOpen: boolean;
  /** Because the person went elsewhere. */
  readonly leaveMenu: () => void;
  /** And goes back to its button. False if it was closed. */
  readonly closeMenu: () => boolean;
}

/** A view that was left is as high as it was within this time, in ms; what is still missing then has to be read. */
const WITHIN_MS = 1_500;

const Moves: Component<Props> = (props) => {
  const { router, keys } = useContext(AppContext);
  onSettled(() => registerKeys(keys, router, () => props.closeMenu(), () => props.main()?.focus({ preventScroll: true })));
  const tops = byEntry<number>(router);
  onSettled(() => router.leaving(() => tops.keep(props.main()?.scrollTop ?? 0)));
  // A person who went somewhere reads on there; nobody is moved by what the server pushes.
  let at = untrack(router.moves);
  createEffect(
    () => ({ move: router.moves(), open: props.menuOpen }),
    ({ move, open }) => {
      if (move === at) return;
      // The content takes no focus before the menu is closed.
      if (open) {
        props.leaveMenu();
        return;
      }
      const isWanted = router.wanted() > at;
      at = move;
      const main = props.main();
      if (!main) return;
      // Whoever was led on by the page keeps the focus, and what went with the view before has an heir.
      if (isWanted) main.focus({ preventScroll: true });
      main.scrollTop = 0;
      const top = tops.back();
      if (top !== undefined) scrollBack(main, top, () => at === move);
    },
  );
  return null;
};
export default Moves;

/** Scrolls as far down as there is content, again while it grows. Ends when a person scrolls. */
const scrollBack = (main: HTMLElement, top: number, isMeant: () => boolean) => {
  const end = performance.now() + WITHIN_MS;
  let put = main.scrollTop;
  const step = () => {
    if (!isMeant() || main.scrollTop !== put) return;
    main.scrollTop = top;
    put = main.scrollTop;
    // A browser may keep fractions otherwise than they were given.
    if (put < top - 1 && performance.now() < end) requestAnimationFrame(step);
  };
  step();
};
