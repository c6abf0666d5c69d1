// @vitest-environment node
import { describe, expect, it } from "vitest";
import { parse } from "./parse";
import type { Block, Inline } from "./tree";

/** All text of a tree, as a person would read it. */
function read(blocks: readonly Block[]): string {
  const line = (all: readonly Inline[]): string => all.map(word).join("");
  const word = (inline: Inline): string => {
    switch (inline.kind) {
      case "text": case "code": return inline.text;
      case "strong": case "em": case "del": return line(inline.children);
      case "link": return inline.label;
      case "image": return `[${inline.alt}]`;
      case "break": return "\n";
    }
  };
  return blocks.map((block) => {
    switch (block.kind) {
      case "paragraph": case "heading": return line(block.children);
      case "code": case "plain": return block.text;
      case "quote": return read(block.blocks);
      case "list": return block.items.map((item) => read(item.blocks)).join("\n");
      case "table": return [block.header, ...block.rows].map((row) => row.map(line).join("|")).join("\n");
      case "rule": return "---";
    }
  }).join("\n");
}
const kinds = (text: string) => parse(text).map((block) => block.kind);
function depthOf(blocks: readonly Block[]): number {
  return Math.max(0, ...blocks.map((block) => (block.kind === "quote" ? 1 + depthOf(block.blocks) : block.kind === "list" ? 1 + Math.max(0, ...block.items.map((item) => depthOf(item.blocks))) : 0)));
}

describe("C36 formatting", () => {
  it("knows paragraphs, headings, lists, tasks, quotes, rules, tables and code", () => {
    expect(kinds("a\n\n# b\n\n- c\n\n> d\n\n---\n\n|e|f|\n|-|-|\n|g|h|\n\n```rs\nfn\n```")).toEqual(["paragraph", "heading", "list", "quote", "rule", "table", "code"]);
    expect(parse("3. a\n4. b")).toMatchObject([{ kind: "list", start: 3 }]);
    expect(parse("- [x] a\n- [ ] b\n- c")).toMatchObject([{ items: [{ done: true }, { done: false }, { done: undefined }] }]);
  });
  it("HTML is text, generics keep every character", () => {
    for (const text of ["<script>alert(1)</script>", "a <b>bold</b> c", "Vec<T> and Map<K, V>", "<img src=x onerror=alert(1)>", "x < y && z > 1", "<!-- hidden -->", "&lt;b&gt; &amp;"])
      expect(read(parse(text))).toBe(text);
  });
  it("an image is its alternative text, also as the label of a link", () => {
    expect(parse("![cat](https://example.com/c.png)")).toEqual([{ kind: "paragraph", children: [{ kind: "image", alt: "cat" }] }]);
    expect(parse("[![cat](c.png)](https://example.com)")).toEqual([{ kind: "paragraph", children: [{ kind: "link", href: "https://example.com", label: "[cat]" }] }]);
  });
  it("a label is flat text, and an empty one shows the address", () => {
    expect(parse("[**a** `b` @bob](https://x.example)")).toEqual([{ kind: "paragraph", children: [{ kind: "link", href: "https://x.example", label: "a b @bob" }] }]);
    expect(parse("[](https://x.example)")).toEqual([{ kind: "paragraph", children: [{ kind: "link", href: "https://x.example", label: "https://x.example" }] }]);
  });
  it("a definition is shown, for nothing of a text may be hidden", () => {
    expect(read(parse("[a]: https://x.example 'secret'"))).toBe("[a]: https://x.example 'secret'");
  });
  it("a soft break is a line break in prose and stays as it is in code", () => {
    expect(parse("a\nb")).toEqual([{ kind: "paragraph", children: [{ kind: "text", text: "a" }, { kind: "break" }, { kind: "text", text: "b" }] }]);
    expect(parse("```\na\n\n  b\n```")).toEqual([{ kind: "code", language: "", text: "a\n\n  b" }]);
    expect(read(parse("- a\n  b\n- c"))).toBe("a\nb\nc");
  });
  it("a growing unterminated fence is a code block at every step", () => {
    const whole = "```js\nlet a = `x`;\n\n# no heading\n- no list";
    for (let end = "```js\n".length; end <= whole.length; end += 1)
      expect(parse(whole.slice(0, end))).toEqual([{ kind: "code", language: "js", text: whole.slice("```js\n".length, end) }]);
  });
  it("a fence is closed by one as long, of the same sign, and only by that", () => {
    expect(parse("````\n```\n~~~\n````\nafter")).toEqual([{ kind: "code", language: "", text: "```\n~~~" }, { kind: "paragraph", children: [{ kind: "text", text: "after" }] }]);
    expect(parse("`` `a` ``")).toMatchObject([{ kind: "paragraph" }]);
  });
});

describe("C36 texts that ask for too much", () => {
  const size = 256 * 1024;
  const long = (unit: string) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
  const hostile: Record<string, string> = {
    quotes: long("> "), tight: long(">"), lists: long("- "), quoteLists: long("> - "), brackets: long("["), images: long("!["), stars: long("*a "), strong: "**".repeat(size / 4) + "a" + "**".repeat(size / 4),
    nestedEm: "*a ".repeat(2000) + " a*".repeat(2000), underscores: long("a_"), ticks: long("`a"), tildes: long("~~a"), angles: long("<"), tags: long("<a "), mails: long("a.a_a@"), items: long("- a\n"),
    headings: long("# a\n"), paragraphs: long("a\n\n"), table: `|a|b|\n|-|-|\n${long("|c|d|\n")}`, fences: long("```\n"), spaces: long(" "), word: long("a"), definitions: long("[a]: b\n"),
    stairs: Array.from({ length: 700 }, (_, index) => `${" ".repeat(index)}- a`).join("\n"), hiddenFence: `<div>\n\`\`\`\n\n${long("- a\n")}`, links: "[".repeat(2000) + "a" + "](b)".repeat(2000),
    deepQuote: "> ".repeat(12_000), tightQuote: ">".repeat(24_000), deepList: "- ".repeat(12_000), deepBoth: "> - ".repeat(6000),
    middling: "*a _b [c `d ".repeat(60), manyMiddling: `${"*a _b ".repeat(60)}\n\n`.repeat(150),
  };
  it.each(Object.entries(hostile))("%s: neither hangs nor overflows, and keeps its text", (_, text) => {
    const started = performance.now();
    const blocks = parse(text);
    expect(performance.now() - started).toBeLessThan(2500);
    expect(depthOf(blocks)).toBeLessThan(30);
    expect(read(blocks).trim() === "").toBe(text.trim() === "");
  });
  it("beyond the bounds a text is shown whole, as it was written", () => {
    const text = long("- a\n");
    expect(parse(text)).toEqual([{ kind: "plain", text }]);
  });
  it("a long block of code is still code", () => {
    const code = "let a = 1;\n".repeat(20_000);
    expect(parse(`\`\`\`\n${code}\`\`\``)).toEqual([{ kind: "code", language: "", text: code.slice(0, -1) }]);
  });
  it("one paragraph with too many marks does not take the formatting from the others", () => {
    const blocks = parse(`**a**\n\n${"*x".repeat(300)}\n\n**b**`);
    expect(blocks[0]).toEqual({ kind: "paragraph", children: [{ kind: "strong", children: [{ kind: "text", text: "a" }] }] });
    expect(blocks[1]).toEqual({ kind: "paragraph", children: [{ kind: "text", text: "*x".repeat(300) }] });
    expect(blocks[2]).toEqual({ kind: "paragraph", children: [{ kind: "strong", children: [{ kind: "text", text: "b" }] }] });
  });
});
