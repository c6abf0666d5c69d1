/** Reads messages of topics into their windows: the newest when a topic is opened, older ones on demand. */
import { topicNow } from "../model/select";
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

  constructor(private readonly deps: LoaderDeps) {}

  open(channelId: ChannelId, topicId: TopicId): void {
    const before = this.deps.state();
    const reads = windows.needsNewest(before, topicId);
    const isNewestOpened = [...before.windows.keys()].at(-1) === topicId;
    if (reads || !isNewestOpened) this.deps.apply(windows.opened(before, topicId));
    if (reads) void this.read(channelId, topicId);
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
    const { deps } = this;
    const window = deps.state().windows.get(topicId);
    const oldest = window?.messages[0];
    const channelId = deps.state().topics.get(topicId)?.channelId;
    if (!oldest || !channelId || window.complete || window.loading !== "none") return;
    deps.apply(windows.olderLoading(deps.state(), topicId));
    try {
      const page = await deps.client.listMessages({ channelId, topicId, before: oldest.id, limit: windows.PAGE, snapshot: undefined }, deps.signal);
      if (!deps.signal.aborted) deps.apply(windows.olderRead(deps.state(), topicNow(deps.state(), topicId), oldest.id, page));
    } catch (error) {
      this.failed(topicId, error);
    }
  }

  private async read(channelId: ChannelId, topicId: TopicId): Promise<void> {
    const { deps } = this;
    const generation = Symbol(topicId);
    this.newest.set(topicId, generation);
    // Events go into the window from now on; together with a page that is read after that nothing is missing.
    const shown = new Set(deps.state().windows.get(topicId)?.messages.map((message) => message.id));
    try {
      const page = await deps.client.listMessages({ channelId, topicId, before: undefined, limit: windows.PAGE, snapshot: undefined }, deps.signal);
      if (deps.signal.aborted || this.newest.get(topicId) !== generation) return;
      const told = deps.state().windows.get(topicId)?.messages.filter((message) => !shown.has(message.id)) ?? [];
      deps.apply(windows.newestRead(deps.state(), topicId, page, told));
    } catch (error) {
      if (this.newest.get(topicId) === generation) this.failed(topicId, error);
    }
  }

  private failed(topicId: TopicId, error: unknown): void {
    const { deps } = this;
    if (deps.signal.aborted) return;
    deps.apply(windows.readFailed(deps.state(), topicId, error instanceof Error ? error.message : String(error)));
    deps.report("messages", error);
  }
}
