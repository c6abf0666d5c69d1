/** Puts the signed-in page together: store, router, keys, settings. */
import { createEffect, createMemo, onSettled } from "solid-js";
import type { Component } from "solid-js";
import { App } from "./App";
import { preloadParts } from "./lazy";
import { Keys } from "./keyboard/keys";
import type { Client, PageSession } from "./model/client";
import type { AccountId } from "./model/types";
import { pinsKey } from "./prefs/pins";
import { createPrefs, schemeOf } from "./prefs/prefs";
import type { Prefs } from "./prefs/prefs";
import { kept } from "./prefs/storage";
import { createRouter } from "./router/router";
import { AppContext, createApp } from "./shell/app";
import { whenIdle } from "./shell/idle";
import { StoreContext } from "./store/context";
import type { Store } from "./store/contract";

interface Parts {
  readonly session: PageSession;
  readonly client: Client;
  readonly me: AccountId;
  readonly createStore: (client: Client, me: AccountId) => Store;
}

/** Everything in it lives as long as the component. */
export const createPage =
  (parts: Parts): Component =>
  () => {
    const storage = kept();
    const prefs = createPrefs(storage);
    const router = createRouter();
    const keys = new Keys();
    const store = parts.createStore(parts.client, parts.me);
    const app = createApp({ router, keys, prefs, session: parts.session, store: storage, pinsKey: pinsKey(window.location.host, parts.me) });
    useTheme(prefs);
    const isRead = createMemo(() => store.state().ready);
    // Not before everything was read: the two would share the connection.
    createEffect(isRead, (read) => (read ? whenIdle(() => void preloadParts()) : undefined));
    onSettled(() => {
      const uninstall = keys.install(window);
      return () => {
        uninstall();
        app.dispose();
        router.dispose();
        store.dispose();
      };
    });
    return (
      <AppContext value={app}>
        <StoreContext value={store}>
          <App />
        </StoreContext>
      </AppContext>
    );
  };

/** Keeps the page's scheme that of the setting, and of the system where the setting says so. */
const useTheme = (prefs: Prefs) =>
  createEffect(prefs.theme, (theme) => {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      document.documentElement.dataset["theme"] = schemeOf(theme, system.matches);
    };
    apply();
    system.addEventListener("change", apply);
    return () => system.removeEventListener("change", apply);
  });
