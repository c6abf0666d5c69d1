/** The command that makes an agent ask. */

/** Everything between single quotes is taken by shells as it is, but for the quote itself. */
export const quoted = (text: string): string => (/^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export const askCommand = (server: string, token: string, question: string, options: readonly string[]): string =>
  [`COMPASS_URL=${quoted(server)}`, `COMPASS_TOKEN=${quoted(token)}`, "compass", "ask", quoted(question), ...options.flatMap((option) => ["--option", quoted(option)]), "--wait"].join(" ");
