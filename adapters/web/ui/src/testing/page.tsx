/** The whole signed-in page over the fake client, at an address. */
import { render, screen } from "@solidjs/testing-library";
import { flush } from "solid-js";
import { onTestFinished, vi } from "vitest";
import { App } from "../App";
import { Keys } from "../keyboard/keys";
import type { PageSession } from "../model/client";
import { createPrefs } from "../prefs/prefs";
import type { Prefs } from "../prefs/prefs";
import type { Kept } from "../prefs/storage";
import { createRouter } from "../router/router";
import { AppContext, createApp } from "../shell/app";
import type { App as AppOf } from "../shell/app";
import { StoreContext } from "../store/context";
import { shellText } from "../strings";
import { FakeClient } from "./fake";
import { memory } from "./memory";
import type { FakeServer } from "./server";
import { settle, testStore } from "./store";
import type { TestStore } from "./store";

/** Records what it is asked; everything works unless told otherwise. */
export class FakeSession implements PageSession {
  readonly calls: unknown[] = [];
  failure: Error | undefined;
  open = true;
  signIn: PageSession["signIn"] = (by) => this.record(by);
  signOut: PageSession["signOut"] = () => this.record("out");
  isOpen: PageSession["isOpen"] = async () => {
    await this.record("open?");
    return this.open;
  };

  private record(call: unknown): Promise<void> {
    this.calls.push(call);
    return this.failure ? Promise.reject(this.failure) : Promise.resolve();
  }
}

export interface TestPage extends TestStore {
  readonly container: HTMLElement;
  readonly app: AppOf;
  readonly prefs: Prefs;
  readonly session: TestStore["session"];
  readonly pageSession: FakeSession;
  readonly path: () => string;
  /** Lets `ms` go by, and loads whatever view is wanted. */
  readonly later: (ms?: number) => Promise<void>;
}

/** The view that is shown. */
export const main = (): HTMLElement => screen.getByRole("main");

/** The left column. */
export const rail = (): HTMLElement => screen.getByRole("navigation", { name: shellText.navigation });

interface Options {
  readonly path?: string;
  readonly client?: FakeClient;
  readonly kept?: Kept;
  /** False: the first snapshot is not awaited. */
  readonly wait?: boolean;
}

export const showPage = async (server: FakeServer, options: Options = {}): Promise<TestPage> => {
  window.history.replaceState(null, "", options.path ?? "/");
  const test = await testStore(options.client ?? new FakeClient(server), { wait: options.wait ?? true });
  const kept = options.kept ?? memory();
  const [router, keys, prefs, pageSession] = [createRouter(), new Keys(false), createPrefs(kept), new FakeSession()];
  const app = createApp({ router, keys, prefs, session: pageSession, store: kept, pinsKey: "pins" });
  const uninstall = keys.install(window);
  const { container, unmount } = render(() => (
    <AppContext value={app}>
      <StoreContext value={test.store}>
        <App />
      </StoreContext>
    </AppContext>
  ));
  onTestFinished(() => {
    unmount();
    uninstall();
    app.dispose();
    router.dispose();
    test.store.dispose();
  });
  const later = async (ms?: number) => {
    await test.pass(ms);
    await loaded();
  };
  await loaded();
  return { ...test, container, app, prefs, pageSession, path: () => window.location.pathname + window.location.search, later };
};

/** Views are loaded when they are wanted, which takes a few turns. */
const loaded = async (): Promise<void> => {
  await vi.dynamicImportSettled();
  for (let turn = 0; turn < 3; turn += 1) await settle();
  flush();
};
