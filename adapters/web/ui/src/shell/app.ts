/** What every view is given beside the store. */
import { createContext, createSignal } from "solid-js";
import type { Place } from "../components/stream-layout";
import type { Keys } from "../keyboard/keys";
import type { PageSession } from "../model/client";
import type { AccountId, ChannelId } from "../model/types";
import { readPins, togglePin, writePins } from "../prefs/pins";
import type { AgentPin } from "../prefs/pins";
import type { Prefs } from "../prefs/prefs";
import type { Kept } from "../prefs/storage";
import { byEntry } from "../router/by-entry";
import type { ByEntry } from "../router/by-entry";
import type { Notice } from "../router/resolve";
import type { Router } from "../router/router";

export interface App {
  readonly router: Router;
  readonly keys: Keys;
  readonly prefs: Prefs;
  readonly session: PageSession;
  readonly pins: AgentPins;
  /** Where a person was in a topic's messages. */
  readonly places: ByEntry<Place>;
  /** Says something to people who do not see the page; once, politely. What is said `about` the same thing replaces what was. */
  say(text: string, about?: string): void;
  /** Takes back what was said about something; says `text` in its place, if it still stood. */
  unsay(about: string, text: string | undefined): void;
  readonly said: () => readonly Line[];
  /** Why the person is somewhere else than the address said. */
  readonly notice: () => Noticed | undefined;
  dismissNotice(): void;
  /** Goes where the address should have led; the notice stays until the next move. */
  redirect(path: string, notice: Noticed): void;
  /** Goes to something that was just made and that the stream has not told of yet. */
  readonly awaited: () => ReadonlySet<string>;
  goToNew(id: string, path: string): void;
  dispose(): void;
}

export const AppContext = createContext<App>();

export interface Noticed {
  readonly kind: Notice;
  /** The channel that the address is of, if it is of one, and what it was called where it was shown. */
  readonly channelId?: ChannelId | undefined;
  readonly name: string;
}

interface Line {
  readonly id: number;
  readonly text: string;
  readonly about: string | undefined;
}

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
  const [said, setSaid] = createSignal<readonly Line[]>([]);
  const [noticed, setNoticed] = createSignal<(Noticed & { readonly move: number }) | undefined>(undefined);
  const [awaited, setAwaited] = createSignal<ReadonlySet<AccountId>>(new Set());
  const [pins, setPins] = createSignal(readPins(parts.store, parts.pinsKey));
  // Another tab of this browser pins as well.
  const changed = (event: StorageEvent) => {
    // None is named where all of it was removed.
    if (event.key === parts.pinsKey || event.key === null) setPins(readPins(parts.store, parts.pinsKey));
  };
  window.addEventListener("storage", changed);
  let count = 0;
  const lineOf = (text: string, about: string | undefined): Line => {
    count += 1;
    return { id: count, text, about };
  };
  return {
    router, keys, prefs, session, said, awaited,
    places: byEntry(router),
    dispose: () => window.removeEventListener("storage", changed),
    notice: () => {
      const at = noticed();
      return at?.move === router.moves() ? at : undefined;
    },
    dismissNotice: () => setNoticed(undefined),
    redirect: (path, notice) => setNoticed({ ...notice, move: router.go(path, { replace: true }) }),
    say: (text, about) => {
      const line = lineOf(text, about);
      setSaid((before) => [...before.filter((each) => about === undefined || each.about !== about), line].slice(-SAID));
    },
    unsay: (about, text) => {
      const lines = text === undefined ? [] : [lineOf(text, about)];
      setSaid((before) => (before.some((each) => each.about === about) ? [...before.filter((each) => each.about !== about), ...lines] : before));
    },
    goToNew: (id, path) => {
      setAwaited((before) => new Set([...before, id]));
      router.go(path);
    },
    pins: {
      list: pins,
      toggle: (agent) => {
        const next = togglePin(readPins(parts.store, parts.pinsKey), agent);
        writePins(parts.store, parts.pinsKey, next);
        setPins(next);
      },
    },
  };
};
