/** Loads a part of the page that is a file of its own, again and again if it has to be. Needs a browser's document. */

/** Between a failed try and the one that follows by itself. */
export const PAUSE_MS = 800;

interface Tools {
  /** Imports the module at an address that no bundler knows. */
  readonly importUrl: (url: string) => Promise<unknown>;
  readonly pause: () => Promise<void>;
}

const inBrowser: Tools = {
  importUrl: (url) => import(/* @vite-ignore */ url),
  pause: () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)),
};

/** Style sheets whose file did not come. The bundler's loader asks for each once only. */
const unstyled = new Set<HTMLLinkElement>();

window.addEventListener(
  "error",
  ({ target }) => {
    if (target instanceof HTMLLinkElement && target.rel === "stylesheet") unstyled.add(target);
  },
  // Such an event does not bubble.
  true,
);

/** Ends either way: a part without its looks is better than none, and another part's are none of its business. */
const styleAgain = (link: HTMLLinkElement): Promise<void> =>
  new Promise((resolve) => {
    const fresh = document.createElement("link");
    fresh.rel = "stylesheet";
    fresh.addEventListener("load", () => resolve());
    fresh.addEventListener("error", () => resolve());
    fresh.href = link.href;
    unstyled.delete(link);
    link.replaceWith(fresh);
  });

/** The address of the module that did not come, where the browser tells it. */
const addressIn = (error: unknown): string | undefined => {
  const found = error instanceof Error ? /https?:\/\/[^\s?]+\.js/.exec(error.message)?.[0] : undefined;
  return found?.startsWith(`${window.location.origin}/`) ? found : undefined;
};

/** One file. `isModule` tells what it should hold. */
export class Chunk<M> {
  private module: M | undefined;
  private pending: Promise<M> | undefined;
  private tries = 0;

  constructor(
    private readonly load: () => Promise<M>,
    private readonly isModule: (module: unknown) => module is M,
    private readonly tools: Tools = inBrowser,
  ) {}

  /** What it holds, once it is here. */
  get here(): M | undefined {
    return this.module;
  }

  /** Rejects after a second try; may be called again. */
  get(): Promise<M> {
    if (this.module) return Promise.resolve(this.module);
    this.pending ??= this.twice().finally(() => (this.pending = undefined));
    return this.pending;
  }

  private async twice(): Promise<M> {
    try {
      return await this.once();
    } catch {
      await this.tools.pause();
      return this.once();
    }
  }

  private async once(): Promise<M> {
    await Promise.all([...unstyled].map(styleAgain));
    this.module = await this.load().catch((error: unknown) => this.elsewhere(error));
    return this.module;
  }

  /** A browser may never ask again for an address that failed; with a query it is another one. */
  private async elsewhere(error: unknown): Promise<M> {
    const url = addressIn(error);
    this.tries += 1;
    if (url === undefined || this.tries === 1) throw error;
    const module = await this.tools.importUrl(`${url}?again=${this.tries}`);
    if (!this.isModule(module)) throw error;
    return module;
  }
}
