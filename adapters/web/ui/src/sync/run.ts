/** Keeps the state in step with the server: subscribe, read, follow, and again when the connection breaks. */
import { Failure } from "../model/client";
import type { Client } from "../model/client";
import type { SnapshotToken, StreamEvent, StreamFrame, TailCursor } from "../model/types";
import type { Connection, ErrorFunnel, State } from "../store/contract";
import { Pump } from "./pump";
import { reduce } from "./reducer";
import { readMembership, readSnapshot } from "./snapshot";

/** Full jitter: a wait is anything from nothing to the base, doubled for every try in vain, and never above the cap. */
export const BACKOFF_BASE_MS = 500;
export const BACKOFF_CAP_MS = 30_000;
/** After this long without a frame the server is asked whether it is there, and it may take so long to answer. */
export interface Patience {
  readonly silence: number;
  readonly answer: number;
}
export const PATIENCE: Patience = { silence: 30_000, answer: 10_000 };
/** The same while somebody may look. */
export const WATCHED_PATIENCE: Patience = { silence: 10_000, answer: 5_000 };

export const backoff = (failures: number, random: () => number): number => random() * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** failures);

/** What the world gives: time and chance, so that tests can have them their way. */
export interface World {
  /** Client clock, ms. */
  readonly now: () => number;
  readonly random: () => number;
  /** For what is sent: so much chance that no two keys are ever the same. */
  readonly newKey: () => string;
  /** Calls back after `ms`; the result takes it back. */
  readonly after: (ms: number, then: () => void) => () => void;
  /** False while nobody can see the page. */
  readonly isWatched: () => boolean;
}

export interface Sync {
  readonly client: Client;
  readonly world: World;
  readonly signal: AbortSignal;
  readonly report: ErrorFunnel;
  readonly state: () => State;
  readonly apply: (state: State) => void;
  readonly connected: (connection: Connection) => void;
  /** A frame arrived that the server stamped then. */
  readonly stamped: (at: number) => void;
  readonly versionSeen: (version: string) => void;
  /** Everything was read anew. */
  readonly renewed: () => void;
  /** Reads the newest messages of these topics again. */
  readonly reload: (topicIds: readonly string[]) => void;
}

/** What a connection came to. `progress`: it carried events. */
type End = { readonly kind: "closed" | "resync"; readonly progress: boolean } | { readonly kind: "failed"; readonly error: unknown; readonly progress: boolean };

/** What is read together when who takes part where is read. */
const MEMBERSHIP_EVENTS: ReadonlySet<StreamEvent["kind"]> = new Set<StreamEvent["kind"]>(["account_changed", "group_changed", "channel_changed"]);

const isSignedOut = (error: unknown): boolean => error instanceof Failure && error.kind === "signed_out";

export class Loop {
  /** Where the stream goes on. Comes from the stream's own frames only and never from a snapshot. */
  private cursor: TailCursor | undefined;
  /** Where the last snapshot ended. Goes into reads only. */
  private token: SnapshotToken | undefined;
  private failures = 0;
  /** True after a lost event until a snapshot was read again: a server that only says "start over" is not hammered. */
  private resynced = false;
  /** So many of the next frames had arrived before it was read who takes part where: of that they tell nothing new. */
  private old = 0;
  private lostSince: number | undefined;
  private isLive = false;
  private isReading = false;
  private hurry: (() => void) | undefined;
  private probe: (() => void) | undefined;
  private breakOff: ((error: unknown) => void) | undefined;

  constructor(private readonly sync: Sync) {}

  /** Runs until the signal aborts; never rejects. */
  async run(): Promise<void> {
    const { signal } = this.sync;
    signal.addEventListener("abort", () => this.hurry?.(), { once: true });
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      const end = await this.connection();
      this.isLive = false;
      if (isOver()) return;
      if (end.kind === "failed") this.sync.report("stream", end.error);
      if (end.kind === "failed" && isSignedOut(end.error)) await this.signedOut();
      else await this.pause(end);
    }
  }

  /** Ends a wait between two tries, or asks a connection that stands whether it is alive. */
  now(): void {
    if (this.hurry) this.hurry();
    else this.probe?.();
  }

  /** The browser says that it has no network: what stands is given up, and tried again as ever, for the server may be near. */
  offline(): void {
    this.breakOff?.(new Failure("unavailable", "the browser is offline"));
  }

  private async connection(): Promise<End> {
    const over = new AbortController();
    const abort = () => over.abort();
    this.sync.signal.addEventListener("abort", abort, { once: true });
    if (this.lostSince === undefined) this.sync.connected({ kind: "connecting" });
    const pump = new Pump(() => this.sync.client.subscribe(this.cursor, over.signal), over.signal);
    const watch = this.watch(pump, over);
    let progress = false;
    this.old = 0;
    try {
      for (;;) {
        const frame = pump.take() ?? (await pump.wait());
        if (!frame) return { kind: "closed", progress };
        watch.heard();
        if (frame.event.kind === "resync_required") {
          this.cursor = undefined;
          return { kind: "resync", progress };
        }
        progress = (await this.frame(frame, pump, over.signal)) || progress;
        this.isReading = false;
      }
    } catch (error) {
      return { kind: "failed", error, progress };
    } finally {
      this.isReading = false;
      watch.stop();
      this.sync.signal.removeEventListener("abort", abort);
      over.abort();
    }
  }

  /** Applies a frame; true if it has a place in the stream. */
  private async frame(frame: StreamFrame, pump: Pump<StreamFrame>, signal: AbortSignal): Promise<boolean> {
    this.sync.stamped(frame.at);
    if (frame.event.kind === "boundary") {
      this.old = pump.ahead().length;
      await this.snapshot(frame, signal);
      return false;
    }
    // Whatever it tells, and if nothing: the place moves on.
    if (frame.cursor) this.cursor = frame.cursor;
    const isOld = this.old > 0 && MEMBERSHIP_EVENTS.has(frame.event.kind);
    if (this.old > 0) this.old -= 1;
    if (!isOld) await this.follow(frame, pump, signal);
    this.live();
    if (!frame.cursor) return false;
    this.failures = 0;
    return true;
  }

  private async follow(frame: StreamFrame, pump: Pump<StreamFrame>, signal: AbortSignal): Promise<void> {
    const before = this.sync.state();
    const { state, moved, reload } = reduce(before, frame.event, frame.at);
    if (state !== before) this.sync.apply(state);
    if (moved) await this.membership([frame, ...pump.ahead()], signal);
    if (reload.length > 0) this.sync.reload(reload);
  }

  private async snapshot(frame: StreamFrame, signal: AbortSignal): Promise<void> {
    if (!frame.snapshot) throw new Failure("internal", "the stream began and did not say where");
    this.token = frame.snapshot;
    this.isReading = true;
    const early = (state: State): void => {
      if (!signal.aborted) this.sync.apply(state);
    };
    const state = await readSnapshot(this.sync.client, this.sync.state, frame.snapshot, signal, early);
    signal.throwIfAborted();
    this.sync.apply(state);
    this.sync.renewed();
    this.resynced = false;
    this.live();
  }

  /** Reads who takes part where because of the first of these frames. What is told after it waits until that is here. */
  private async membership(frames: readonly StreamFrame[], signal: AbortSignal): Promise<void> {
    this.isReading = true;
    this.old = frames.length - 1;
    // Resumed without ever having read anything: there is no such thing, a cursor comes after a boundary.
    if (!this.token) throw new Failure("internal", "somebody moved before anything was read");
    try {
      const read = await readMembership(this.sync.client, this.sync.state(), frames.map((each) => each.event), this.token, signal);
      signal.throwIfAborted();
      this.sync.apply(read.put(this.sync.state()));
      this.sync.reload(read.topicIds.filter((id) => this.sync.state().windows.has(id)));
    } catch (error) {
      // The event will not come again, so all is read anew.
      this.cursor = undefined;
      throw error;
    }
  }

  private live(): void {
    if (this.isLive) return;
    this.isLive = true;
    this.lostSince = undefined;
    this.sync.connected({ kind: "live" });
  }

  /** Asks the server for its version at the start and after silence; a connection that gives no sign of life is ended. */
  private watch(pump: Pump<StreamFrame>, over: AbortController): { readonly heard: () => void; readonly stop: () => void } {
    const { world, client } = this.sync;
    const { signal } = over;
    let cancel = (): void => undefined;
    let [stopped, hasBegun] = [false, false];
    const began = world.now();
    /** A stream from the beginning says at once where it begins: what was asked long after it and is answered first tells that it is held up. */
    const isStuck = (asked: number): boolean => !hasBegun && this.cursor === undefined && asked - began >= patience().silence;
    const patience = (): Patience => (world.isWatched() ? WATCHED_PATIENCE : PATIENCE);
    const ask = async (isFatal: boolean): Promise<void> => {
      // Reads have a limit of their own, and an answer would have to wait behind them.
      if (isFatal && this.isReading) return;
      const late = new AbortController();
      const asked = world.now();
      const give = world.after(patience().answer, () => late.abort());
      try {
        const gone = new Promise<never>((_, reject) => late.signal.addEventListener("abort", () => reject(new Failure("unavailable", "the server does not answer")), { once: true }));
        const { version } = await Promise.race([client.serverInfo(AbortSignal.any([signal, late.signal])), gone]);
        if (stopped) return;
        this.sync.versionSeen(version);
        if (isStuck(asked)) {
          this.lostSince ??= began;
          pump.fail(new Failure("unavailable", "the stream does not begin"));
        }
        // A stream that goes on where it was says nothing until something happens.
        if (this.cursor && this.sync.state().ready) this.live();
      } catch (error) {
        if (stopped) return;
        if (isFatal) {
          this.lostSince ??= asked;
          pump.fail(error);
        } else this.sync.report("version", error);
      } finally {
        give();
      }
    };
    const quiet = (): void => {
      cancel();
      if (stopped) return;
      cancel = world.after(patience().silence, () => {
        quiet();
        void ask(true);
      });
    };
    this.probe = () => void ask(true);
    this.breakOff = (error) => {
      pump.fail(error);
      over.abort();
    };
    void ask(false);
    quiet();
    return {
      heard: () => {
        hasBegun = true;
        quiet();
      },
      stop: () => {
        stopped = true;
        cancel();
        this.probe = this.breakOff = undefined;
      },
    };
  }

  private async pause(end: End): Promise<void> {
    const since = (this.lostSince ??= this.sync.world.now());
    const isFirstResync = end.kind === "resync" && !this.resynced;
    if (end.kind === "resync") this.resynced = true;
    const atOnce = isFirstResync || (end.kind === "closed" && end.progress);
    const wait = atOnce ? 0 : backoff(this.failures, this.sync.world.random);
    if (!atOnce) this.failures += 1;
    this.sync.connected({ kind: "lost", since, retryAt: this.sync.world.now() + wait });
    if (!atOnce) await this.wait(wait);
  }

  private async signedOut(): Promise<void> {
    this.sync.connected({ kind: "signed_out" });
    await this.wait(undefined);
    this.lostSince = undefined;
  }

  /** Waits so many ms, or until somebody is in a hurry. */
  private wait(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      let cancel = (): void => undefined;
      this.hurry = () => {
        this.hurry = undefined;
        cancel();
        resolve();
      };
      const { hurry } = this;
      if (ms !== undefined) cancel = this.sync.world.after(ms, hurry);
      if (this.sync.signal.aborted) hurry();
    });
  }
}
