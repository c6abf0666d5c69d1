/**
 * Shows a text: as it was written at first, formatted once the parser is here.
 *
 * Only elements and text nodes are made. Code is shown plain, without colours for its words.
 */
import { createMemo, createSignal, onSettled, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { StoreContext } from "../store/context";
import { blocks, plain } from "./blocks";
import type { Parse } from "./tree";
import "./Markdown.css";

/** The parser of the page, loaded at most once; undefined until then. */
let loaded: Parse | undefined;

async function load(): Promise<Parse> {
  loaded ??= (await import("./parse")).parse;
  return loaded;
}

export const Markdown: Component<{ readonly text: string }> = (props) => {
  const store = useContext(StoreContext);
  const [parser, setParser] = createSignal<{ readonly parse: Parse } | undefined>(loaded && { parse: loaded });
  onSettled(() => {
    if (loaded) return;
    let gone = false;
    load().then(
      (parse) => {
        if (!gone) setParser({ parse });
      },
      (error: unknown) => store.report("markdown", error),
    );
    return () => {
      gone = true;
    };
  });
  const tree = createMemo(() => parser()?.parse(props.text));
  return (
    <div class="markdown">
      <Show when={tree()} fallback={plain(props.text)} keyed>
        {(found) => blocks(found)}
      </Show>
    </div>
  );
};
