/** What somebody who wants in has in hand. Pure. */

export type Credential = { readonly secret: string } | { readonly token: string };
export type PastedKind = "secret" | "token";

/** A whole sign-in link is taken for the secret in it, whatever was said that it is. Undefined if there is nothing. */
export const credentialOf = (kind: PastedKind, pasted: string): Credential | undefined => {
  const text = pasted.trim();
  const inLink = secretInLink(text);
  if (inLink !== undefined) return { secret: inLink };
  if (text === "") return undefined;
  return kind === "secret" ? { secret: text } : { token: text };
};

const secretInLink = (text: string): string | undefined => {
  const at = text.indexOf("/sign-in#");
  const secret = at < 0 ? "" : text.slice(at + "/sign-in#".length);
  return secret === "" ? undefined : secret;
};

interface Addressed {
  readonly location: Pick<Location, "hash" | "pathname" | "search">;
  readonly history: Pick<History, "replaceState">;
}

/** Takes the secret out of the address bar and the history, so that neither shows it. Nothing is sent. */
export const takeSecret = (win: Addressed): string | undefined => {
  if (win.location.pathname !== "/sign-in") return undefined;
  const secret = win.location.hash.slice(1);
  if (secret === "") return undefined;
  win.history.replaceState(null, "", win.location.pathname + win.location.search);
  return secret;
};
