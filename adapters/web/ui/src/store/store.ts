/** The store: one state from one stream, published together, with the actions of the page. Needs no DOM. */
import { createSignal, getOwner, onCleanup, untrack } from "solid-js";
import { Failure, isUncertain } from "../model/client";
import type { Client } from "../model/client";
import { errorText } from "../model/text";
import { ServerTime } from "../model/time";
import type { AccountId, AskId, SessionId, TopicId } from "../model/types";
import { Batch } from "../sync/batch";
import { emptyState } from "../sync/reducer";
import { Loop } from "../sync/run";
import type { World } from "../sync/run";
import type { Connection, ErrorFunnel, Staged, State, Store, Unsent } from "./contract";
import { Drafts } from "./drafts";
import { Kept } from "./kept";
import type { Keep } from "./kept";
import { Loader } from "./loader";
import { Outbox } from "./outbox";
import { Problems } from "./problems";
import type { Problem } from "./problems";
import { Staging } from "./staging";

/** `now()` moves on this often. */
export const TICK_MS = 15_000;

export interface StoreOptions {
  readonly client: Client;
  readonly me: AccountId;
  readonly world: World;
  /** Of this tab; without it nothing outlives the page. */
  readonly session?: Keep | undefined;
  /** Everything that goes wrong in the background comes here, too. */
  readonly onError?: ErrorFunnel;
  /** Calls back when the network may be back, and when it is gone; the result ends that. */
  readonly onNetwork?: (wake: () => void, offline: () => void) => () => void;
  /** Learns when the server was heard; the wire's replies feed it as well. */
  readonly time?: ServerTime;
}

/** Starts to follow the server at once. Ends with its owner, or with `dispose`. */
export const createStore = (options: StoreOptions): Store => {
  const { client, me, world } = options;
  const over = new AbortController();
  const time = options.time ?? new ServerTime(world.now, world.now);
  // The store is written from timers and replies, and by whoever calls an action, wherever that is.
  const owned = { ownedWrite: true };
  const [state, setState] = createSignal<State>(emptyState(me), owned);
  const [connection, setConnection] = createSignal<Connection>({ kind: "connecting" }, owned);
  const [staged, setStaged] = createSignal<ReadonlyMap<AskId, Staged>>(new Map(), owned);
  const [unsent, setUnsent] = createSignal<ReadonlyMap<AskId, Unsent>>(new Map(), owned);
  const [now, setNow] = createSignal<number>(time.now(), owned);
  const [newVersion, setNewVersion] = createSignal<string | undefined>(undefined, owned);
  const [problems, setProblems] = createSignal<readonly Problem[]>([], owned);
  const [refusals, setRefusals] = createSignal<ReadonlyMap<SessionId, string>>(new Map(), owned);

  const told = new Problems((list) => setProblems(list));
  const report: ErrorFunnel = (where, error) => {
    if (over.signal.aborted) return;
    told.add(where, error);
    options.onError?.(where, error);
  };
  const kept = (name: string) => new Kept(options.session, `compass:${name}:${me}`, (error) => report("storage", error));
  const ofTab = { staged: kept("staged"), drafts: kept("drafts") };

  let current = untrack(state);
  const batch = new Batch(() => {
    loader.follow();
    staging.reconcile();
    setState(current);
  }, world);
  const apply = (next: State): void => {
    if (next === current || over.signal.aborted) return;
    current = next;
    batch.changed();
  };
  const shared = { client, state: () => current, apply, report, signal: over.signal };
  const staging = new Staging({ client, state: () => current, publish: (all) => setStaged(all), leave: (all) => setUnsent(all), report, kept: ofTab.staged });
  const drafts = new Drafts(ofTab.drafts);
  const loader = new Loader(shared);

  let loaded: string | undefined;
  let hasTime = false;
  let isLive = false;
  const loop = new Loop({
    ...shared,
    world,
    connected: (is) => {
      setConnection(is);
      isLive = is.kind === "live";
      if (isLive) seeToRest();
    },
    stamped: (at) => {
      time.observe(at);
      if (!hasTime && at > 0) {
        hasTime = true;
        setNow(time.now());
      }
    },
    versionSeen: (version) => {
      loaded ??= version;
      setNewVersion(version === loaded ? undefined : version);
    },
    renewed: () => loader.renew(),
    reload: (topics) => loader.reload(topics),
  });

  /** The highest position to which each topic was read, sent or on its way. */
  const read = new Map<TopicId, number>();
  /** Positions of which it is not known whether they got there. */
  const lost = new Map<TopicId, number>();
  const markAgain = (): void => {
    for (const [topicId, seq] of lost) {
      lost.delete(topicId);
      store.markRead(topicId, seq);
    }
  };

  /** Whatever got no answer is seen to again. */
  const seeToRest = (): void => {
    markAgain();
    if (isLive) void staging.settle();
  };

  let stopTick = (): void => undefined;
  const tick = (): void => {
    setNow(time.now());
    seeToRest();
    stopTick = world.after(TICK_MS, tick);
  };
  stopTick = world.after(TICK_MS, tick);
  const stopWaking = options.onNetwork?.(() => loop.now(), () => loop.offline()) ?? (() => undefined);
  void loop.run();

  const store: Store = {
    state, connection, staged, unsent, now, newVersion, problems, refusals, client, report,
    asks: staging,
    dismissProblem: (id) => told.dismiss(id),
    openTopic: (channelId, topicId) => loader.open(channelId, topicId),
    loadOlder: (topicId) => void loader.older(topicId),
    markRead: (topicId, seq) => {
      const known = Math.max(current.positions.get(topicId)?.seq ?? 0, read.get(topicId) ?? 0);
      if (seq <= known) return;
      read.set(topicId, seq);
      // The stream tells the new position; a reply is not applied, since it may be older than what was told meanwhile.
      client.markRead(topicId, seq).catch((error: unknown) => {
        if (read.get(topicId) === seq) {
          read.delete(topicId);
          if (isUncertain(error)) lost.set(topicId, seq);
        }
        report("read", error);
      });
    },
    post: async (channelId, topic, blocks, requestId) => {
      try {
        const message = await client.post({ channelId, topic, blocks, requestId });
        time.observe(message.at);
        return message;
      } catch (error) {
        report("post", error);
        throw error instanceof Failure ? error : new Failure("internal", errorText(error));
      }
    },
    startAgent: (agentId) => client.startAgent(agentId, world.newKey()),
    stopSession: async (sessionId) => {
      setRefusals((before) => new Map([...before].filter(([id]) => id !== sessionId)));
      try {
        await client.stopSession(sessionId);
      } catch (error) {
        setRefusals((before) => new Map(before).set(sessionId, errorText(error)));
        report("stop", error);
      }
    },
    get outbox() {
      return outbox;
    },
    drafts,
    forget: () => Object.values(ofTab).forEach((each) => each.forget()),
    reconnect: () => loop.now(),
    dispose: () => {
      over.abort();
      outbox.dispose();
      stopTick();
      stopWaking();
    },
  };
  const outbox = new Outbox(store, world);
  if (getOwner()) onCleanup(() => store.dispose());
  return store;
};
