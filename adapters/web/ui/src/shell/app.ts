/** What every view is given beside the store. */
import { createContext, createSignal } from "solid-js";
import type { Keys } from "../keyboard/keys";
import type { PageSession } from "../model/client";
import type { AccountId } from "../model/types";
import { readPins, togglePin, writePins } from "../prefs/pins";
import type { AgentPin } from "../prefs/pins";
import type { Prefs } from "../prefs/prefs";
import type { Kept } from "../prefs/storage";
import type { Notice } from "../router/resolve";
import type { Router } from "../router/router";

export interface App {
  readonly router: Router;
  readonly keys: Keys;
  readonly prefs: Prefs;
  readonly session: PageSession;
  readonly pins: AgentPins;
  /** Says something to people who do not see the page; once, politely. */
  say(text: string): void;
  readonly said: () => readonly { readonly id: number; readonly text: string }[];
  /** Why the person is somewhere else than the address said. */
  readonly notice: () => Notice | undefined;
  dismissNotice(): void;
  /** Goes where the address should have led; the notice stays until the next move. */
  redirect(path: string, notice: Notice): void;
  /** Goes to something that was just made and that the stream has not told of yet. */
  readonly awaited: () => ReadonlySet<string>;
  goToNew(id: string, path: string): void;
}

export const AppContext = createContext<App>();

export interface AgentPins {
  readonly list: () => readonly AgentPin[];
  toggle(agent: AgentPin): void;
}

/** A live region repeats its newest lines only. */
const SAID = 3;

interface Parts {
  readonly router: Router;
  readonly keys: Keys;
  readonly prefs: Prefs;
  readonly session: PageSession;
  readonly store: Kept;
  /** Where agent pins of this server and account are kept. */
  readonly pinsKey: string;
}

export const createApp = (parts: Parts): App => {
  const { router, keys, prefs, session } = parts;
  const [said, setSaid] = createSignal<readonly { readonly id: number; readonly text: string }[]>([]);
  const [noticed, setNoticed] = createSignal<{ readonly notice: Notice; readonly move: number } | undefined>(undefined);
  const [awaited, setAwaited] = createSignal<ReadonlySet<AccountId>>(new Set());
  const [pins, setPins] = createSignal(readPins(parts.store, parts.pinsKey));
  let count = 0;
  return {
    router, keys, prefs, session, said, awaited,
    notice: () => {
      const at = noticed();
      return at?.move === router.moves() ? at.notice : undefined;
    },
    dismissNotice: () => setNoticed(undefined),
    redirect: (path, notice) => setNoticed({ notice, move: router.go(path, { replace: true }) }),
    say: (text) => {
      count += 1;
      const line = { id: count, text };
      setSaid((before) => [...before, line].slice(-SAID));
    },
    goToNew: (id, path) => {
      setAwaited((before) => new Set([...before, id]));
      router.go(path);
    },
    pins: {
      list: pins,
      toggle: (agent) =>
        setPins((before) => {
          const next = togglePin(before, agent);
          writePins(parts.store, parts.pinsKey, next);
          return next;
        }),
    },
  };
};
