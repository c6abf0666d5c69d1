// @vitest-environment node
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { components, walk } from "../testing/sources";

const styles = import.meta.glob<string>(["../**/*.css", "!../styles/tokens.css"], { query: "?raw", import: "default", eager: true });

/** Attributes that are read out or shown. */
const SHOWN = new Set(["alt", "aria-description", "aria-label", "aria-placeholder", "aria-roledescription", "aria-valuetext", "label", "placeholder", "title"]);
/** Operators whose sides are shown. */
const JOINING = new Set([ts.SyntaxKind.PlusToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.QuestionQuestionToken]);
const hasWord = (text: string): boolean => /\p{L}/u.test(text);
const wordsIn = (node: ts.Node): string => {
  if (ts.isTemplateExpression(node)) return [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join("");
  return ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) ? node.text : "";
};

/** Words that markup shows and that stand in the source itself: as text, in a shown attribute, in an expression between tags. */
const stray = (source: string): readonly string[] => {
  const found: string[] = [];
  const literal = (node: ts.Node): void => {
    const words = wordsIn(node);
    if (hasWord(words)) found.push(words);
    // What is only compared, called with or looked up is not shown.
    if (ts.isConditionalExpression(node)) [node.whenTrue, node.whenFalse].forEach(literal);
    else if (ts.isParenthesizedExpression(node)) literal(node.expression);
    else if (ts.isBinaryExpression(node) && JOINING.has(node.operatorToken.kind)) [node.left, node.right].forEach(literal);
  };
  walk(source, (node, file) => {
    if (ts.isJsxText(node) && hasWord(node.text)) found.push(node.text.trim());
    if (ts.isJsxExpression(node) && node.expression && (ts.isJsxElement(node.parent) || ts.isJsxFragment(node.parent))) literal(node.expression);
    if (ts.isJsxAttribute(node) && SHOWN.has(node.name.getText(file)) && node.initializer) {
      if (ts.isStringLiteral(node.initializer)) literal(node.initializer);
      else if (ts.isJsxExpression(node.initializer) && node.initializer.expression) literal(node.initializer.expression);
    }
  });
  return found;
};

describe("words of the page", () => {
  it("the scan sees a word wherever markup can hold one, and nothing else", () => {
    const markup = '<><p>Plain</p><p>{"Quoted"}</p><p>{on ? "Yes" : a}</p><p>{`Hi ${name}`}</p><input placeholder="Here" title={a ?? "There"} /></>';
    expect(stray(markup)).toEqual(["Plain", "Quoted", "Yes", "Hi ", "Here", "There"]);
    expect(stray('<p class="card" data-a="b">{words.here} › {kind === "x" ? 1 : 2}{label("key")}</p>')).toEqual([]);
  });
  it("stand in strings/ and nowhere in markup", () => {
    expect(Object.keys(components).length).toBeGreaterThan(30);
    const found = Object.entries(components).flatMap(([name, source]) => stray(source).map((words) => `${name}: ${words}`));
    expect(found).toEqual([]);
  });
});

describe("colours", () => {
  /** A colour that is no token; one that is made from a token counts as it. */
  const raw = (css: string): readonly string[] => css.replace(/\/\*.*?\*\//gs, "").match(/#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|hwb|lab|lch|oklab|oklch|color)a?\((?!from var\()|:\s*(?:white|black|red|gr[ae]y)\b/gi) ?? [];
  it("the scan sees raw ones, and lets through what is made from a token", () => {
    expect(raw("a{color:#fff;background:rgb(0 0 0 / 0.5);border-color: white}")).toHaveLength(3);
    expect(raw("a{color:var(--fg);background:rgb(from var(--fg) r g b / 0.3)} /* #fff */ #id{}")).toEqual([]);
  });
  it("are named in tokens.css only", () => {
    expect(Object.keys(styles).length).toBeGreaterThan(15);
    expect(Object.entries(styles).flatMap(([name, css]) => raw(css).map((colour) => `${name}: ${colour}`))).toEqual([]);
  });
});
