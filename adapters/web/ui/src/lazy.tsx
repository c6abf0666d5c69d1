/** Parts of the page that are files of their own. One that does not come is told of in its place; the rest goes on. */
import { dynamic } from "@solidjs/web";
import { createMemo, createSignal, Errored, onSettled } from "solid-js";
import type { Component } from "solid-js";
import type { JSX } from "@solidjs/web";
import { Chunk } from "./lazy-load";
import { errorText, visible } from "./model/text";
import { Retry } from "./shell/Retry";
import { shellText } from "./strings";
import "./lazy.css";

interface PartModule<P extends object> {
  readonly default: Component<P>;
}

/** Shows a part once it is here; stands below a `Loading` of its own or of the page. */
export type Part<P extends object> = Component<P> & { readonly preload: () => Promise<unknown> };

const isPart = <P extends object>(module: unknown): module is PartModule<P> =>
  typeof module === "object" && module !== null && "default" in module && typeof module.default === "function";

const parts: Chunk<unknown>[] = [];

/** `title` says what is missing where the part alone would have said so. */
export const lazyPart = <P extends object>(load: () => Promise<PartModule<P>>, title?: string): Part<P> => {
  const chunk = new Chunk<PartModule<P>>(load, isPart<P>);
  parts.push(chunk);
  const Shown: Component<P> = (props) => {
    const [tries, setTries] = createSignal(0);
    const again = () => setTries((count) => count + 1);
    // Never an error of the graph: one that nobody catches ends all of it.
    const outcome = createMemo<PartModule<P> | { readonly failed: unknown }>(() => {
      tries();
      return chunk.here ?? chunk.get().catch((failed: unknown) => ({ failed }));
    });
    const Missing: Component<P> = () => <MissingPart title={title} onAgain={again} />;
    const Now = dynamic(() => {
      const now = outcome();
      return "default" in now ? now.default : Missing;
    });
    return (
      <Errored fallback={(error, reset) => <BrokenPart error={error()} onAgain={reset} />}>
        <Now {...props} />
      </Errored>
    );
  };
  return Object.assign(Shown, { preload: () => chunk.get() });
};

/** Loads every part that is not here yet, one after another: what is here needs no network later. */
export const preloadParts = async (): Promise<void> => {
  // A part that comes may bring further ones.
  for (let index = 0; index < parts.length; index += 1) {
    // It is asked for again, and told of, where it is needed.
    await parts[index]?.get().catch(() => undefined);
  }
};

const MissingPart: Component<{ readonly title: string | undefined; readonly onAgain: () => void }> = (props) => {
  onSettled(() => {
    const again = () => props.onAgain();
    window.addEventListener("online", again);
    return () => window.removeEventListener("online", again);
  });
  return (
    <PartNotice title={props.title ?? shellText.partMissing} onAgain={() => props.onAgain()}>
      {shellText.partMissingHelp}
    </PartNotice>
  );
};

const BrokenPart: Component<{ readonly error: unknown; readonly onAgain: () => void }> = (props) => (
  <PartNotice title={shellText.broken} onAgain={() => props.onAgain()}>
    {shellText.brokenHelp} <bdi>{visible(errorText(props.error))}</bdi>
  </PartNotice>
);

const PartNotice: Component<{ readonly title: string; readonly onAgain: () => void; readonly children: JSX.Element }> = (props) => (
  <div class="part-notice" role="alert">
    <p>
      <strong>{props.title}</strong>
    </p>
    <p>{props.children}</p>
    <Retry onAgain={props.onAgain} />
  </div>
);
