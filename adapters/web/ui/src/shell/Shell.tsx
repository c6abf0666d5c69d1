/** The frame: bars on top, channels on the left, the view in the middle. */
import { createEffect, createMemo, createSignal, Loading, onSettled, Show, useContext } from "solid-js";
import type { ParentComponent } from "solid-js";
import { watchFocus } from "../keyboard/keep-focus";
import { lazyPart } from "../lazy";
import { StoreContext } from "../store/context";
import { shellText } from "../strings";
import { Said } from "./Said";
import { Sidebar } from "./Sidebar";
import { TopBar } from "./TopBar";
import "./Shell.css";

/** What went wrong or changed: nothing of it belongs to the first view. */
const Banners = lazyPart(() => import("./Banners"));
const SignedOutDialog = lazyPart(() => import("./SignedOutDialog"), shellText.signedOut);
/** Nobody goes anywhere before the first view is there. */
const Moves = lazyPart(() => import("./Moves"));

export const Shell: ParentComponent = (props) => {
  const store = useContext(StoreContext);
  const out = createMemo(() => store.connection().kind === "signed_out");
  // Asked before the page is changed: what is inert loses the focus.
  const before = createMemo(() => (out() ? document.activeElement : undefined));
  const [menu, setMenu] = createSignal(false);
  let main: HTMLElement | undefined;
  let menuButton: HTMLButtonElement | undefined;
  let rail: HTMLElement | undefined;
  onSettled(() => watchFocus(() => main));
  const closeMenu = (): boolean => {
    if (!menu()) return false;
    setMenu(false);
    menuButton?.focus();
    return true;
  };
  // Keys of the page are heard at its window: they would act on what nobody can see now.
  createEffect(out, (isOut) => {
    if (!isOut) return undefined;
    const keep = (event: Event) => event.stopPropagation();
    document.addEventListener("keydown", keep);
    return () => document.removeEventListener("keydown", keep);
  });
  createEffect(menu, (open) => {
    if (open) rail?.querySelector<HTMLElement>('[data-stop][tabindex="0"]')?.focus();
  });
  return (
    <>
      <Show when={out()}>
        <Loading fallback={null}>
          <SignedOutDialog before={before()} />
        </Loading>
      </Show>
      {/* Nobody is signed in: whoever stands there reads nothing of it, and what was begun stays in it. */}
      <div class="shell" inert={out()}>
        <a class="skip" href="#main" onClick={() => main?.focus()}>
          {shellText.skip}
        </a>
        <TopBar menuOpen={menu()} onMenu={() => setMenu((open) => !open)} menuRef={(button) => (menuButton = button)} />
        <Loading fallback={null}>
          <Banners />
          <Moves main={() => main} menuOpen={menu()} leaveMenu={() => setMenu(false)} closeMenu={closeMenu} />
        </Loading>
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
    </>
  );
};
