/** Finds who a text names with `@`. The same grammar as the server's, which decides who is told. */

export type Part = { readonly kind: "text"; readonly text: string } | { readonly kind: "mention"; readonly text: string; readonly handle: string };

/** Names for many, which no account can have. */
const RESERVED: ReadonlySet<string> = new Set(["everyone", "agents", "users"]);

export function isReserved(handle: string): boolean {
  return RESERVED.has(handle);
}

/** An `@` after a character of a handle or an address begins no mention; dots at the end belong to the sentence. */
const MENTION = /(?<![a-z0-9._+%-])@([a-z0-9](?:[a-z0-9._-]*[a-z0-9_-])?)/gi;

/** Splits `text` into what is a mention and what is not; joined again the parts are the text. Handles are lower case. */
export function splitMentions(text: string): readonly Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(MENTION)) {
    if (match.index > end) parts.push({ kind: "text", text: text.slice(end, match.index) });
    parts.push({ kind: "mention", text: match[0], handle: match[0].slice(1).toLowerCase() });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ kind: "text", text: text.slice(end) });
  return parts;
}
