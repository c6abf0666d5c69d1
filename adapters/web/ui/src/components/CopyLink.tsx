/** Copies an address of the page; shows it as text where the browser refuses. */
import { createSignal, Match, Switch } from "solid-js";
import type { Component } from "solid-js";
import { tabIndex } from "../keyboard/reach";
import { copyLinkText } from "../strings";
import "./controls.css";
import "./CopyLink.css";

export const CopyLink: Component<{ readonly path: string; readonly label: string }> = (props) => {
  const [state, setState] = createSignal<"idle" | "copied" | "refused">("idle");
  const stop = tabIndex();
  const address = () => new URL(props.path, window.location.origin).href;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(address());
      setState("copied");
    } catch {
      // Shown, not reported: the person gets the link all the same.
      setState("refused");
    }
  };
  return (
    <span class="copy-link">
      <button type="button" class="quiet" tabindex={stop()} onClick={() => void copy()}>
        {props.label}
      </button>
      <span aria-live="polite" class="copy-link-state">
        <Switch>
          <Match when={state() === "copied"}>{copyLinkText.copied}</Match>
          <Match when={state() === "refused"}>
            <label>
              {copyLinkText.failed} <input readonly tabindex={stop()} value={address()} aria-label={copyLinkText.field} onFocus={(e) => e.currentTarget.select()} />
            </label>
          </Match>
        </Switch>
      </span>
    </span>
  );
};
