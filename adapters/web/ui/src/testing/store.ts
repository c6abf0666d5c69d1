/** A store over the fake client, with time that moves only when a test says so. */
import { flush } from "solid-js";
import { createStore } from "../store/store";
import type { StoreOptions } from "../store/store";
import type { Store } from "../store/contract";
import type { Keep } from "../store/kept";
import type { World } from "../sync/run";
import { FakeClient } from "./fake";

let keys = 0;

/** A clock and timers that a test drives. */
export class FakeWorld implements World {
  private at = 1_000_000;
  private timers: { readonly due: number; readonly then: () => void }[] = [];
  /** What `random` says next; 1 takes a backoff to its limit. */
  chance = 1;
  watched = true;

  readonly now = (): number => this.at;
  readonly random = (): number => this.chance;
  /** No two worlds make the same one: a page that is loaded again talks to the same server. */
  newKey = (): string => {
    keys += 1;
    return `key-${keys}`;
  };
  readonly isWatched = (): boolean => this.watched;
  readonly after = (ms: number, then: () => void): (() => void) => {
    const timer = { due: this.at + ms, then };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((each) => each !== timer);
    };
  };

  get waiting(): number {
    return this.timers.length;
  }

  /** Moves on, and lets everything that is due happen, each in its turn. */
  async pass(ms: number): Promise<void> {
    const end = this.at + ms;
    for (;;) {
      await settle();
      const next = [...this.timers].sort((a, b) => a.due - b.due)[0];
      if (!next || next.due > end) break;
      this.timers = this.timers.filter((each) => each !== next);
      this.at = Math.max(this.at, next.due);
      next.then();
    }
    this.at = end;
    await settle();
  }
}

/** Lets everything happen that waits for nothing but a turn. */
export const settle = async (): Promise<void> => {
  // Nothing of the fake takes more than a microtask, however many follow one another.
  for (let turn = 0; turn < TURNS; turn += 1) await Promise.resolve();
  flush();
};

/** Far above the longest chain of a snapshot. */
const TURNS = 300;

/** A `Storage` of a test. */
export class FakeKeep implements Keep {
  readonly items = new Map<string, string>();
  getItem(name: string): string | null {
    return this.items.get(name) ?? null;
  }
  setItem(name: string, value: string): void {
    this.items.set(name, value);
  }
  removeItem(name: string): void {
    this.items.delete(name);
  }
}

export interface Errors {
  readonly where: string;
  readonly error: unknown;
}

export interface TestStore {
  readonly store: Store;
  readonly client: FakeClient;
  readonly world: FakeWorld;
  readonly session: FakeKeep;
  /** What reached the funnel. */
  readonly errors: Errors[];
  /** Lets `ms` go by and everything that was told be published. */
  readonly pass: (ms?: number) => Promise<void>;
}

/** Long enough for what arrived under load to be published. */
const A_WHILE = 60;

/** A store that has read its first snapshot, unless `wait` is false. Dispose it at the end of the test. */
export const testStore = async (client: FakeClient = new FakeClient(), options: Partial<StoreOptions> & { readonly wait?: boolean } = {}): Promise<TestStore> => {
  const { wait = true, ...rest } = options;
  const [world, session, errors]: [FakeWorld, FakeKeep, Errors[]] = [new FakeWorld(), new FakeKeep(), []];
  const store = createStore({ client, me: client.server.me.id, world, session, onError: (where, error) => errors.push({ where, error }), ...rest });
  const pass = (ms = A_WHILE): Promise<void> => world.pass(ms);
  if (wait) await pass();
  return { store, client, world, session, errors, pass };
};
