/** The bar at the top. */
import { Loading, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { lazyPart } from "../lazy";
import { visibleLine } from "../model/text";
import { helpPath, inboxPath, settingsPath } from "../router/paths";
import { StoreContext } from "../store/context";
import { shellText } from "../strings";
import "./TopBar.css";

/** Comes after the first view, which has no need of it. */
const SearchBox = lazyPart(() => import("./SearchBox"));

export const TopBar: Component<{ readonly menuOpen: boolean; readonly onMenu: () => void; readonly menuRef: (button: HTMLButtonElement) => void }> = (props) => {
  const store = useContext(StoreContext);
  const me = () => store.state().accounts.get(store.state().me);
  return (
    <header class="topbar">
      <button
        type="button"
        class="topbar-menu"
        ref={(button) => props.menuRef(button)}
        aria-expanded={props.menuOpen ? "true" : "false"}
        aria-controls="rail"
        aria-label={props.menuOpen ? shellText.closeMenu : shellText.menu}
        onClick={() => props.onMenu()}
      >
        <span aria-hidden="true">☰</span>
        <Show when={store.state().openAsks.size > 0}>
          <span class="topbar-menu-count" aria-hidden="true">
            {store.state().openAsks.size}
          </span>
        </Show>
      </button>
      <a class="topbar-brand" href={inboxPath}>
        {shellText.product}
      </a>
      <Loading fallback={<span class="topbar-search" />}>
        <SearchBox />
      </Loading>
      <a class="topbar-link" href={helpPath} aria-label={shellText.help} title={shellText.help}>
        <span aria-hidden="true">?</span>
      </a>
      <a class="topbar-link me" href={settingsPath("profile")} title={shellText.settings}>
        {/* One element from the beginning: a press on one that is replaced before the button is released is lost. */}
        <bdi aria-hidden={me() ? undefined : "true"}>{visibleLine(me()?.handle ?? "⚙")}</bdi>{" "}
        <span class="visually-hidden">{shellText.settings}</span>
      </a>
    </header>
  );
};
