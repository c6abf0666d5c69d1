/** The elements of a formatted text. A tree never changes, so these are functions of it, not components. */
import { For, onCleanup, Show } from "solid-js";
import type { JSX } from "@solidjs/web";
import { visible } from "../model/text";
import { messageText } from "../strings";
import { inlines } from "./inlines";
import type { Align, Block, Item } from "./tree";

/** The blocks of a text, each in the direction of its own text. */
export function blocks(tree: readonly Block[]): JSX.Element {
  return <For each={tree}>{(shown) => block(shown, "auto")}</For>;
}

/** The blocks of a list's item or of a quote: the direction is that of the whole, which counts no text of what has one of its own. */
function inner(tree: readonly Block[]): JSX.Element {
  return <For each={tree}>{(shown) => block(shown, undefined)}</For>;
}

type Direction = "auto" | undefined;

function block(shown: Block, dir: Direction): JSX.Element {
  switch (shown.kind) {
    case "paragraph":
      return <p dir={dir}>{inlines(shown.children)}</p>;
    case "heading":
      // No heading element: what someone wrote is not part of the page's outline.
      return (
        <p class={["md-heading", `md-heading-${shown.level}`]} dir={dir}>
          {inlines(shown.children)}
        </p>
      );
    case "code":
      return (
        <pre class="md-code" dir="ltr" tabindex="-1" role="group" aria-label={codeLabel(shown.language)} ref={stopWhileCut()}>
          <code>{visible(shown.text)}</code>
        </pre>
      );
    case "quote":
      return <blockquote dir={dir}>{inner(shown.blocks)}</blockquote>;
    case "list":
      return list(shown.start, shown.items, dir);
    case "table":
      return table(shown, dir);
    case "rule":
      return <hr />;
    case "plain":
      return (
        <>
          <p class="md-notice">{messageText.plainNotice}</p>
          {plain(shown.text)}
        </>
      );
  }
}

/** For `ref`: Tab comes to a box while it shows a part of what is in it, for keys to scroll it. */
function stopWhileCut(): (box: HTMLElement) => void {
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const isCut = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
      if (target instanceof HTMLElement) target.tabIndex = isCut ? 0 : -1;
    }
  });
  onCleanup(() => sizes.disconnect());
  return (box) => sizes.observe(box);
}

/** A text as it was written. */
export function plain(text: string): JSX.Element {
  return (
    <p class="md-plain" dir="auto">
      {visible(text)}
    </p>
  );
}

function codeLabel(language: string): string {
  return language === "" ? messageText.codePlain : messageText.codeLabel(visible(language));
}

function list(start: number | undefined, items: readonly Item[], dir: Direction): JSX.Element {
  const shown = <For each={items}>{item}</For>;
  return start === undefined ? (
    <ul dir={dir}>{shown}</ul>
  ) : (
    <ol start={start} dir={dir}>
      {shown}
    </ol>
  );
}

function item(shown: Item): JSX.Element {
  const word = shown.done === true ? messageText.taskDone : messageText.taskOpen;
  return (
    <li class={{ "md-task": shown.done !== undefined }}>
      <Show when={shown.done !== undefined}>
        <span class={["md-box", { done: shown.done === true }]} role="img" aria-label={word} />
      </Show>
      {inner(shown.blocks)}
    </li>
  );
}

function table(shown: Extract<Block, { readonly kind: "table" }>, dir: Direction): JSX.Element {
  const side = (column: number) => alignClass(shown.align[column]);
  return (
    <div class="md-table" dir={dir} tabindex="-1" role="group" aria-label={messageText.table} ref={stopWhileCut()}>
      <table>
        <thead>
          <tr>
            <For each={shown.header}>
              {(cell, column) => (
                <th scope="col" class={side(column())}>
                  {inlines(cell)}
                </th>
              )}
            </For>
          </tr>
        </thead>
        <tbody>
          <For each={shown.rows}>
            {(row) => (
              <tr>
                <For each={row}>
                  {(cell, column) => <td class={side(column())}>{inlines(cell)}</td>}
                </For>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}

function alignClass(align: Align): string | undefined {
  return align && `md-${align}`;
}
