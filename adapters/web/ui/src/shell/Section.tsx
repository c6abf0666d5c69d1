/** A part of the left column that folds. */
import { createUniqueId, Show, useContext } from "solid-js";
import type { ParentComponent } from "solid-js";
import { shellText } from "../strings";
import { AppContext } from "./app";

/** `name` is what the fold is kept under. */
export const Section: ParentComponent<{ readonly name: string; readonly title: string; readonly link?: { readonly path: string; readonly label: string } }> = (props) => {
  const { prefs } = useContext(AppContext);
  const heading = createUniqueId();
  const body = createUniqueId();
  const open = () => !prefs.folded(props.name);
  return (
    <section class="rail-section" aria-labelledby={heading}>
      <div class="rail-heading">
        <h2 id={heading}>
          <button
            type="button"
            class="fold"
            aria-expanded={open() ? "true" : "false"}
            aria-controls={body}
            data-stop
            tabindex="-1"
            onClick={() => prefs.setFolded(props.name, open())}
          >
            <span class={["caret", { open: open() }]} aria-hidden="true" />
            {props.title}
          </button>
        </h2>
        <Show when={props.link}>
          {(link) => (
            <a class="rail-add" href={link().path} aria-label={link().label} title={link().label} data-stop tabindex="-1">
              +
            </a>
          )}
        </Show>
      </div>
      <div id={body}>
        <Show when={open()}>{props.children}</Show>
      </div>
    </section>
  );
};

/** A count that says what it counts to those who do not see it. */
export const Badge = (props: { readonly count: number; readonly label: string; readonly kind: "asks" | "unread" }) => (
  <Show when={props.count > 0}>
    <span class={["badge", props.kind]}>
      <span aria-hidden="true">{props.count > 999 ? shellText.many : props.count}</span>
      <span class="visually-hidden">{props.label}</span>
    </span>
  </Show>
);
