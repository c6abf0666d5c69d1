/** The elements within a line of a formatted text. */
import { For } from "solid-js";
import type { JSX } from "@solidjs/web";
import { tabIndex } from "../keyboard/reach";
import { visible } from "../model/text";
import { messageText } from "../strings";
import { Mention } from "./Mention";
import { splitMentions } from "./mentions";
import { safeUrl } from "./safe-url";
import type { Inline } from "./tree";

export function inlines(children: readonly Inline[]): JSX.Element {
  return <For each={children}>{inline}</For>;
}

function inline(shown: Inline): JSX.Element {
  switch (shown.kind) {
    case "text":
      return text(shown.text);
    case "code":
      return <code dir="ltr">{visible(shown.text)}</code>;
    case "strong":
      return <strong>{inlines(shown.children)}</strong>;
    case "em":
      return <em>{inlines(shown.children)}</em>;
    case "del":
      return <del>{inlines(shown.children)}</del>;
    case "link":
      return link(shown.href, shown.label);
    case "image":
      return <span class="md-image">[{visible(shown.alt)}]</span>;
    case "break":
      return <br />;
  }
}

/** Parts of one text that become elements; a text with more mentions than that is shown without. */
const PARTS = 500;

function text(shown: string): JSX.Element {
  const parts = splitMentions(shown);
  if (parts.length > PARTS) return visible(shown);
  return <For each={parts}>{(part) => (part.kind === "text" ? visible(part.text) : <Mention text={part.text} handle={part.handle} />)}</For>;
}

function link(href: string, label: string): JSX.Element {
  const safe = safeUrl(href);
  if (safe === undefined) {
    return (
      <span class="md-inert" title={messageText.blockedLink}>
        {visible(label)}
      </span>
    );
  }
  const stop = tabIndex();
  return (
    <a href={safe} tabindex={stop()} target="_blank" rel="noreferrer noopener" title={visible(safe)}>
      <bdi>{visible(label)}</bdi>
    </a>
  );
}
