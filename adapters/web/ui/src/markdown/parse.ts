/**
 * Turns a text into a tree, by the tokens of `marked`; its renderer, which makes HTML, is not used.
 *
 * HTML and entities in the text stay as they were written. Nothing of the text is left out.
 */
import { Lexer } from "marked";
import type { MarkedToken, Token, Tokens } from "marked";
import { Budget, formattable, segments } from "./bounds";
import type { Align, Block, Inline, Item } from "./tree";

/** Levels of nesting that are shown as such; what is deeper is shown as it was written. */
const DEPTH = 24;

export function parse(text: string): readonly Block[] {
  const parts = segments(text);
  if (!formattable(parts)) return [{ kind: "plain", text }];
  const budget = new Budget();
  return parts.flatMap((part): readonly Block[] =>
    part.kind === "fence" ? [{ kind: "code", language: part.language, text: part.text }] : blocksOf(lex(part.text, budget), 0),
  );
}

/** As `Lexer.lex`, with a bound on each search for marks. */
function lex(text: string, budget: Budget): readonly Token[] {
  const lexer = new Lexer({ gfm: true, breaks: true });
  lexer.blockTokens(text, lexer.tokens);
  for (const waiting of lexer.inlineQueue) {
    if (budget.take(waiting.src)) lexer.inlineTokens(waiting.src, waiting.tokens);
    else waiting.tokens.push({ type: "text", raw: waiting.src, text: waiting.src, escaped: false });
  }
  return lexer.tokens;
}

const KNOWN: ReadonlySet<string> = new Set<MarkedToken["type"]>([
  "blockquote", "br", "checkbox", "code", "codespan", "def", "del", "em", "escape", "heading", "hr", "html", "image", "link", "list",
  "list_item", "paragraph", "space", "strong", "table", "text",
]);

function isKnown(token: Token): token is MarkedToken {
  return KNOWN.has(token.type);
}

function blocksOf(tokens: readonly Token[], depth: number): readonly Block[] {
  return tokens.flatMap((token): readonly Block[] => (isKnown(token) ? blockOf(token, depth) : [asWritten(token.raw)]));
}

function asWritten(raw: string): Block {
  return { kind: "paragraph", children: withBreaks(raw.trimEnd()) };
}

function blockOf(token: MarkedToken, depth: number): readonly Block[] {
  if (depth > DEPTH) return [asWritten(token.raw)];
  switch (token.type) {
    case "space":
    case "checkbox":
      return [];
    case "hr":
      return [{ kind: "rule" }];
    case "heading":
      return [{ kind: "heading", level: token.depth, children: inlinesOf(token.tokens, 0) }];
    case "code":
      return [{ kind: "code", language: token.lang?.trim().split(/\s/, 1)[0] ?? "", text: token.text }];
    case "blockquote":
      return [{ kind: "quote", blocks: blocksOf(token.tokens, depth + 1) }];
    case "list":
      return [{ kind: "list", start: token.ordered && token.start !== "" ? token.start : undefined, items: token.items.map((item) => itemOf(item, depth)) }];
    case "table":
      return [tableOf(token)];
    case "paragraph":
      return [{ kind: "paragraph", children: inlinesOf(token.tokens, 0) }];
    case "text":
      return [{ kind: "paragraph", children: token.tokens ? inlinesOf(token.tokens, 0) : withBreaks(token.text) }];
    // A definition is invisible in HTML; here nothing of a text is.
    case "def":
    case "html":
    case "list_item":
    case "br":
    case "codespan":
    case "del":
    case "em":
    case "escape":
    case "image":
    case "link":
    case "strong":
      return [asWritten(token.raw)];
  }
}

function itemOf(item: Tokens.ListItem, depth: number): Item {
  return { done: item.task ? item.checked === true : undefined, blocks: blocksOf(item.tokens, depth + 1) };
}

function tableOf(table: Tokens.Table): Block {
  const align = table.align.map((side): Align => side ?? undefined);
  const cells = (row: readonly Tokens.TableCell[]) => row.map((cell) => inlinesOf(cell.tokens, 0));
  return { kind: "table", align, header: cells(table.header), rows: table.rows.map(cells) };
}

/** Neighbouring texts become one, so that a mention is found wherever the lexer happened to cut. */
function inlinesOf(tokens: readonly Token[], depth: number): readonly Inline[] {
  const found: Inline[] = [];
  for (const inline of tokens.flatMap((token) => (isKnown(token) ? inlineOf(token, depth) : withBreaks(token.raw)))) {
    const last = found.at(-1);
    if (inline.kind === "text" && last?.kind === "text") found[found.length - 1] = { kind: "text", text: last.text + inline.text };
    else found.push(inline);
  }
  return found;
}

function inlineOf(token: MarkedToken, depth: number): readonly Inline[] {
  if (depth > DEPTH) return withBreaks(token.raw);
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      return [{ kind: token.type, children: inlinesOf(token.tokens, depth + 1) }];
    case "codespan":
      return [{ kind: "code", text: token.text }];
    case "link":
      return [{ kind: "link", href: token.href, label: flat(token.tokens, depth + 1) || token.href }];
    case "image":
      return [{ kind: "image", alt: token.text }];
    case "br":
      return [{ kind: "break" }];
    case "checkbox":
      return [];
    case "escape":
      return withBreaks(token.text);
    case "text":
      return token.tokens ? inlinesOf(token.tokens, depth + 1) : withBreaks(token.text);
    case "html":
    case "def":
    case "blockquote":
    case "code":
    case "heading":
    case "hr":
    case "list":
    case "list_item":
    case "paragraph":
    case "space":
    case "table":
      return withBreaks(token.raw);
  }
}

/** The text of tokens without their marks. */
function flat(tokens: readonly Token[], depth: number): string {
  return inlinesOf(tokens, depth).map(textOf).join("");
}

function textOf(inline: Inline): string {
  switch (inline.kind) {
    case "text":
    case "code":
      return inline.text;
    case "strong":
    case "em":
    case "del":
      return inline.children.map(textOf).join("");
    case "link":
      return inline.label;
    case "image":
      return `[${inline.alt}]`;
    case "break":
      return " ";
  }
}

function withBreaks(text: string): readonly Inline[] {
  return text.split("\n").flatMap((line, index): readonly Inline[] => {
    const shown: readonly Inline[] = line === "" ? [] : [{ kind: "text", text: line }];
    return index === 0 ? shown : [{ kind: "break" }, ...shown];
  });
}
