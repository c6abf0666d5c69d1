/** Which addresses of a text may be followed. */

/** Controls, spaces, and characters without width or with a say in the direction: none belongs into an address. */
const HIDDEN = /[\u0000-\u0020\u007f-\u00a0\u00ad\u061c\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb]/;

/**
 * Returns `raw` unchanged if it is a whole http, https or mailto address, undefined otherwise.
 *
 * A name or a password before the host makes one host look like another, so it is refused.
 */
export function safeUrl(raw: string): string | undefined {
  if (HIDDEN.test(raw) || !/^(?:https?:\/\/[^/\\]|mailto:[^/\\])/i.test(raw) || !URL.canParse(raw)) return undefined;
  const url = new URL(raw);
  if (url.protocol === "mailto:") return raw;
  const web = url.protocol === "https:" || url.protocol === "http:";
  return web && url.username === "" && url.password === "" ? raw : undefined;
}
