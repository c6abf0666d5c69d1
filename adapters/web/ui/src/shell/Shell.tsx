/** The frame: bars on top, channels on the left, the view in the middle. */
import { createEffect, createSignal, Loading, onSettled, untrack, useContext } from "solid-js";
import type { ParentComponent } from "solid-js";
import { lazyPart } from "../lazy";
import { shellText } from "../strings";
import { AppContext } from "./app";
import { registerKeys } from "./commands";
import { Said } from "./Said";
import { Sidebar } from "./Sidebar";
import { SignedOut } from "./SignedOut";
import { TopBar } from "./TopBar";
import "./Shell.css";

/** What went wrong or changed: nothing of it belongs to the first view. */
const Banners = lazyPart(() => import("./Banners"));

export const Shell: ParentComponent = (props) => {
  const { router, keys } = useContext(AppContext);
  const [menu, setMenu] = createSignal(false);
  let main: HTMLElement | undefined;
  let menuButton: HTMLButtonElement | undefined;
  let rail: HTMLElement | undefined;
  const closeMenu = (): boolean => {
    if (!menu()) return false;
    setMenu(false);
    menuButton?.focus();
    return true;
  };
  onSettled(() => registerKeys(keys, router, closeMenu, () => main?.focus({ preventScroll: true })));
  // A person who went somewhere reads on there; nobody is moved by what the server pushes.
  let at = untrack(router.moves);
  createEffect(
    () => ({ move: router.moves(), open: menu() }),
    ({ move, open }) => {
      if (move === at) return;
      // The content takes no focus before the menu is closed.
      if (open) setMenu(false);
      else {
        at = move;
        if (!main) return;
        main.focus({ preventScroll: true });
        main.scrollTop = 0;
      }
    },
  );
  createEffect(menu, (open) => {
    if (open) rail?.querySelector<HTMLElement>('[data-stop][tabindex="0"]')?.focus();
  });
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={() => main?.focus()}>
        {shellText.skip}
      </a>
      <TopBar menuOpen={menu()} onMenu={() => setMenu((open) => !open)} menuRef={(button) => (menuButton = button)} />
      <Loading fallback={null}>
        <Banners />
      </Loading>
      <SignedOut />
      <div class={["shell-body", { "menu-open": menu() }]}>
        <div class="shell-rail" ref={(element) => (rail = element)}>
          <Sidebar />
        </div>
        <div class="shell-veil" aria-hidden="true" onClick={closeMenu} />
        <main id="main" class="shell-main" tabindex="-1" data-zone="main" aria-label={shellText.main} ref={(element) => (main = element)} inert={menu()}>
          {props.children}
        </main>
      </div>
      <Said />
    </div>
  );
};
