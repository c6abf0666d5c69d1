/** What a search found of a message, with the words that were looked for marked. */
import { createMemo, For, Show } from "solid-js";
import type { Component } from "solid-js";
import { snippet } from "../model/snippet";
import type { Message } from "../model/types";
import "./Snippet.css";

export const Snippet: Component<{ readonly message: Message; readonly query: string; readonly limit: number }> = (props) => {
  const pieces = createMemo(() => snippet(props.message.blocks, props.query, props.limit));
  return (
    <For each={pieces()} keyed={false}>
      {(piece) => (
        <Show when={piece().marked} fallback={piece().text}>
          <mark class="snippet-mark">{piece().text}</mark>
        </Show>
      )}
    </For>
  );
};
