/** Reads messages of topics into their windows: the newest when a topic is opened, older ones on demand. */
import { topicNow } from "../model/select";
import { errorText } from "../model/text";
import type { Client } from "../model/client";
import type { ChannelId, TopicId } from "../model/types";
import * as windows from "../sync/windows";
import type { ErrorFunnel, State } from "./contract";

export interface LoaderDeps {
  readonly client: Pick<Client, "listMessages">;
  readonly state: () => State;
  readonly apply: (state: State) => void;
  readonly report: ErrorFunnel;
  readonly signal: AbortSignal;
}

export class Loader {
  /** The newest read of each topic; what an earlier one brings is dropped. */
  private readonly newest = new Map<TopicId, symbol>();
  /** Changes with every snapshot: a page that was asked for before may come from a time when the person took no part. */
  private era = Symbol("era");
  /** The topic that somebody looks at. */
  private wanted: { readonly channelId: ChannelId; readonly topicId: TopicId } | undefined;

  constructor(private readonly deps: LoaderDeps) {}

  /** A topic that is not known yet, or not any more, is opened when it appears. */
  open(channelId: ChannelId, topicId: TopicId): void {
    this.wanted = { channelId, topicId };
    const before = this.deps.state();
    if (!before.topics.has(topicId)) return;
    const reads = windows.needsNewest(before, topicId);
    const isNewestOpened = [...before.windows.keys()].at(-1) === topicId;
    if (reads || !isNewestOpened) this.deps.apply(windows.opened(before, topicId));
    if (reads) void this.read(channelId, topicId);
  }

  /** Opens what is wanted and was not there, or lost its window; to be called when the state may have changed. */
  follow(): void {
    if (!this.wanted) return;
    const topicId = topicNow(this.deps.state(), this.wanted.topicId);
    if (!this.deps.state().windows.has(topicId)) this.open(this.wanted.channelId, topicId);
  }

  /** Everything was read anew: what is on its way is dropped, and asked for again where it is needed. */
  renew(): void {
    this.era = Symbol("era");
    this.newest.clear();
    const { deps } = this;
    for (const [topicId, window] of deps.state().windows) {
      if (window.loading === "newest") this.reload([topicId]);
      else if (window.loading === "older") deps.apply(windows.settled(deps.state(), topicId));
    }
  }

  reload(topicIds: readonly TopicId[]): void {
    for (const topicId of topicIds) {
      const channelId = this.deps.state().topics.get(topicId)?.channelId;
      if (channelId === undefined) continue;
      this.deps.apply(windows.reloading(this.deps.state(), topicId));
      void this.read(channelId, topicId);
    }
  }

  async older(topicId: TopicId): Promise<void> {
    const { deps, era } = this;
    const window = deps.state().windows.get(topicId);
    const oldest = window?.messages[0];
    const channelId = deps.state().topics.get(topicId)?.channelId;
    if (!oldest || !channelId || !window.gapless || window.complete || window.loading !== "none") return;
    deps.apply(windows.olderLoading(deps.state(), topicId));
    const isMeant = (): boolean => !deps.signal.aborted && this.era === era;
    try {
      const page = await deps.client.listMessages({ channelId, topicId, before: oldest.id, limit: windows.PAGE, snapshot: undefined }, deps.signal);
      if (isMeant()) deps.apply(windows.olderRead(deps.state(), topicNow(deps.state(), topicId), oldest.id, page));
    } catch (error) {
      if (isMeant()) this.failed(topicId, error);
    }
  }

  private async read(channelId: ChannelId, topicId: TopicId): Promise<void> {
    const { deps } = this;
    const generation = Symbol(topicId);
    this.newest.set(topicId, generation);
    const isMeant = (): boolean => !deps.signal.aborted && this.newest.get(topicId) === generation;
    // Events go into the window from now on; together with a page that is read after that nothing is missing.
    const shown = new Set(deps.state().windows.get(topicId)?.messages.map((message) => message.id));
    try {
      const page = await deps.client.listMessages({ channelId, topicId, before: undefined, limit: windows.PAGE, snapshot: undefined }, deps.signal);
      if (!isMeant()) return;
      const told = deps.state().windows.get(topicId)?.messages.filter((message) => !shown.has(message.id)) ?? [];
      deps.apply(windows.newestRead(deps.state(), topicId, page, told));
    } catch (error) {
      if (isMeant()) this.failed(topicId, error);
    }
  }

  private failed(topicId: TopicId, error: unknown): void {
    const { deps } = this;
    deps.apply(windows.readFailed(deps.state(), topicId, errorText(error)));
    deps.report("messages", error);
  }
}
