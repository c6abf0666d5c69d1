/** Foreign text made safe to read: nothing in it can hide, reorder or imitate what is around it. */
import type { Block, Message } from "./types";

// Bidi controls, zero-width and other invisible characters, line separators, tags and variation selectors that pose as
// nothing, controls. A variation selector after an emoji and a joiner within one are ordinary text.
const HIDDEN =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB\u{E0000}-\u{E0FFF}]|(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F)[\u200C\u200D]|[\u200C\u200D](?!\p{Extended_Pictographic})|(?<!\p{Emoji})[\uFE00-\uFE0F]/gu;

const marker = (hidden: string): string => `⟦U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟧`;

/** Shows every character that cannot be seen or moves others as a marker such as ⟦U+202E⟧. For text of several lines. */
export const visible = (text: string): string => text.replace(HIDDEN, marker);

/** The same for what stands on one line: labels, handles, names. Runs of white space become one space. */
export const visibleLine = (text: string): string => visible(text.replace(/[\s\u0085]+/gu, " ").trim());

/** The first text of a message, or the first question of its ask, on one line and as it may be shown; "" if there is none. */
export const firstText = (blocks: readonly Block[]): string => {
  for (const block of blocks) {
    if (block.kind === "text") return visibleLine(block.text);
    if (block.kind === "ask" || block.kind === "answer") return visibleLine(block.ask.questions[0]?.question ?? "");
  }
  return "";
};

/** At most `limit` code points; what was cut off is told by an ellipsis. */
export const clipped = (text: string, limit: number): string => {
  const points = Array.from(text);
  return points.length <= limit ? text : `${points.slice(0, Math.max(0, limit - 1)).join("")}…`;
};

/** Flags of a message's row: one that carries an ask is flagged, whatever became of the ask. */
export const messageFlags = (message: Message): readonly "ASK"[] => (message.blocks.some((block) => block.kind === "ask") ? ["ASK"] : []);

/** What an error says of itself; foreign text. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Bytes of the text in UTF-8, which the server's limits count in. */
export const byteLength = (text: string): number => new TextEncoder().encode(text).length;
