/** What the `@` before the caret may become. */
import type { Account } from "../model/types";
import { composerText } from "../strings";

/** A mention that is being typed: where its `@` stands, and what follows up to the caret. */
export interface Typing {
  readonly at: number;
  readonly query: string;
}

export interface Suggestion {
  readonly handle: string;
  readonly about: string;
}

const SHOWN = 8;

const RESERVED: readonly Suggestion[] = [
  { handle: "everyone", about: composerText.everyone },
  { handle: "agents", about: composerText.agents },
  { handle: "users", about: composerText.users },
];

/** The mention that ends at `caret`, or undefined if none is being typed there. */
export function typingAt(text: string, caret: number): Typing | undefined {
  const match = /(?<![a-z0-9._+%-])@([a-z0-9][a-z0-9._-]*)?$/i.exec(text.slice(0, caret));
  return match ? { at: match.index, query: (match[1] ?? "").toLowerCase() } : undefined;
}

/** Up to eight who may be meant, best first. */
export function suggestions(accounts: readonly Account[], query: string): readonly Suggestion[] {
  const all = [...accounts.map((account) => ({ handle: account.handle, about: account.displayName })), ...RESERVED];
  const rank = (each: Suggestion) => (each.handle.toLowerCase().startsWith(query) ? 0 : each.about.toLowerCase().includes(query) ? 1 : 2);
  return all
    .filter((each) => rank(each) < 2)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, SHOWN);
}

/** The text with the mention in place, and where the caret goes. */
export function inserted(text: string, typing: Typing, caret: number, handle: string): { readonly text: string; readonly caret: number } {
  const before = `${text.slice(0, typing.at)}@${handle} `;
  return { text: before + text.slice(caret).replace(/^ /, ""), caret: before.length };
}
