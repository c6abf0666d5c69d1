/** The one polite live region. */
import { For, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AppContext } from "./app";

export const Said: Component = () => {
  const app = useContext(AppContext);
  return (
    <div class="visually-hidden" aria-live="polite" aria-relevant="additions" data-said>
      <For each={app.said()}>{(line) => <p>{line.text}</p>}</For>
    </div>
  );
};
