/** A store for tests of components: its state is what the test sets, its actions are only recorded. */
import { render } from "@solidjs/testing-library";
import { createSignal, flush } from "solid-js";
import type { JSX } from "@solidjs/web";
import { onTestFinished } from "vitest";
import { watchFocus } from "../keyboard/keep-focus";
import type { Account, Channel, Topic } from "../model/types";
import type { Connection, Staged, State, Store, Unsent } from "../store/contract";
import { StoreContext } from "../store/context";
import { Drafts } from "../store/drafts";
import { Kept } from "../store/kept";
import { Outbox } from "../store/outbox";
import { byId } from "./builders";
import { FakeClient } from "./fake";
import { FakeWorld } from "./store";

export interface Recorded {
  readonly name: string;
  readonly input: readonly unknown[];
}

const EMPTY: State = {
  me: "user-ann", accounts: new Map(), groups: new Map(), channels: new Map(), topics: new Map(), presence: new Map(), windows: new Map(),
  openAsks: new Map(), endedAsks: new Map(), positions: new Map(), merged: new Map(), reach: new Map(), ready: true,
};

export interface StillStore {
  readonly store: Store;
  readonly recorded: Recorded[];
  readonly setState: (change: Partial<State>) => void;
  readonly connect: (connection: Connection) => void;
  readonly stage: (askId: string, staged: Partial<Staged> | undefined) => void;
  readonly leave: (askId: string, unsent: Unsent) => void;
}

export function stillStore(start: { readonly accounts?: readonly Account[]; readonly channels?: readonly Channel[]; readonly topics?: readonly Topic[] } = {}): StillStore {
  const recorded: Recorded[] = [];
  const drafts = new Drafts(new Kept(undefined, "drafts", () => undefined));
  const client = new FakeClient();
  const [state, setState] = createSignal<State>({
    ...EMPTY, accounts: byId(start.accounts ?? []), channels: byId(start.channels ?? []), topics: byId(start.topics ?? []),
  });
  const [connection, setConnection] = createSignal<Connection>({ kind: "live" });
  const [staged, setStaged] = createSignal<ReadonlyMap<string, Staged>>(new Map());
  const [unsent, setUnsent] = createSignal<ReadonlyMap<string, Unsent>>(new Map());
  const record = (name: string) => (...input: readonly unknown[]) => {
    recorded.push({ name, input });
  };
  const store: Store = {
    state, staged, unsent, connection, now: () => 0, newVersion: () => undefined, problems: () => [],
    dismissProblem: record("dismissProblem"), client,
    asks: { pick: record("pick"), type: record("type"), clear: record("clear"), submit: record("submit"), dismiss: record("dismiss") },
    openTopic: record("openTopic"), loadOlder: record("loadOlder"), markRead: record("markRead"),
    post: (channelId, topic, blocks, requestId) => {
      record("post")(channelId, topic, blocks);
      return client.post({ channelId, topic, blocks, requestId });
    },
    report: record("report"), drafts,
    get outbox() {
      return outbox;
    },
    startAgent: (agentId) => client.startAgent(agentId, ""), stopSession: () => Promise.resolve(), refusals: () => new Map(), forget: record("forget"), reconnect: record("reconnect"), dispose: record("dispose"),
  };
  const outbox = new Outbox(store, new FakeWorld());
  return {
    store, recorded,
    connect: (connection) => {
      setConnection(connection);
      flush();
    },
    setState: (change) => {
      setState((before) => ({ ...before, ...change }));
      flush();
    },
    leave: (askId, left) => {
      setUnsent((before) => new Map(before).set(askId, left));
      flush();
    },
    stage: (askId, change) => {
      setStaged((before) => {
        const after = new Map(before);
        if (change) after.set(askId, { answers: new Map(), submitted: false, error: undefined, ...before.get(askId), ...change });
        else after.delete(askId);
        return after;
      });
      flush();
    },
  };
}

/** Renders with the store around it; the focus is followed as the frame does it. */
export function show(still: StillStore, ui: () => JSX.Element): ReturnType<typeof render> {
  onTestFinished(watchFocus(() => undefined));
  onTestFinished(() => still.store.outbox.dispose());
  return render(() => <StoreContext value={still.store}>{ui()}</StoreContext>);
}
