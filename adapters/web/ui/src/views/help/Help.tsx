/** What the keys do, and what an ask is. */
import { createMemo, For, Show, useContext } from "solid-js";
import type { Component } from "solid-js";
import { AppContext } from "../../shell/app";
import { helpText, titleText } from "../../strings";
import "./Help.css";

const Help: Component = () => (
  <div class="page help">
    <h1>{titleText.help}</h1>
    <h2>{helpText.askTitle}</h2>
    <p>{helpText.asks}</p>
    <h2>{helpText.awayTitle}</h2>
    <p>{helpText.away}</p>
    <h2>{helpText.channelsTitle}</h2>
    <p>{helpText.channels}</p>
    <h2>{helpText.keys}</h2>
    <KeyList />
  </div>
);
export default Help;

/** Keys as they are registered now, so that the list cannot lie. */
export const KeyList: Component = () => {
  const { keys } = useContext(AppContext);
  const commands = createMemo(() => keys.list().filter((command) => command.label !== undefined));
  return (
    <dl class="key-list">
      <For each={commands()} keyed={(command) => command.id}>
        {(command) => (
          <div>
            <dt>
              <For each={command().keys.split(" ")} keyed={false}>
                {(key, index) => (
                  <>
                    <Show when={index > 0}> {helpText.then} </Show>
                    <kbd>{key()}</kbd>
                  </>
                )}
              </For>
            </dt>
            <dd>{command().label}</dd>
          </div>
        )}
      </For>
      <For each={helpText.groupKeys} keyed={false}>
        {(entry) => (
          <div>
            <dt>
              <kbd>{entry()[0]}</kbd>
            </dt>
            <dd>{entry()[1]}</dd>
          </div>
        )}
      </For>
    </dl>
  );
};
