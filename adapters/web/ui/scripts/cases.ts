/** The table of the page's cases and the tests that hold them; `node scripts/cases.ts --write` refreshes it in docs/spec/page.md. */
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** How many cases there are: C1 to this one. */
export const CASES = 46;

/** A test by its place and its title. */
export interface Test {
  /** From the top of the page's source. */
  readonly file: string;
  readonly title: string;
}

const BEGIN = "<!-- made by `npm run cases -- --write` -->";
const END = "<!-- end of what is made -->";
const ui = fileURLToPath(new URL("..", import.meta.url));
export const document = fileURLToPath(new URL("../../../../docs/spec/page.md", import.meta.url));

/** The titles of the tests in a source text; skipped ones are not tests. */
export function titles(name: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [title] = node.arguments;
      if (title !== undefined && ts.isStringLiteralLike(title) && isTest(node.expression)) found.push(title.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, false, name.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS));
  return found;
}

/** `it`, `test`, and what `it.each(…)` or `it.concurrent` give. */
function isTest(expression: ts.Expression): boolean {
  if (ts.isIdentifier(expression)) return ["it", "test"].includes(expression.text);
  if (ts.isCallExpression(expression)) return ts.isPropertyAccessExpression(expression.expression) && isTest(expression.expression);
  if (!ts.isPropertyAccessExpression(expression)) return false;
  return ["each", "for", "concurrent", "sequential"].includes(expression.name.text) && isTest(expression.expression);
}

/** The numbers of the cases that a title begins with: `C16 …`, `C16, C17 …`, `C1–C3 …`. */
export function casesOf(title: string): number[] {
  const head = /^(?:C\d+(?:\s*(?:[,/+&]|and|to|[-–])\s*(?=C\d))?\s*)+/.exec(title)?.[0] ?? "";
  const found: number[] = [];
  for (const [, first, last] of head.matchAll(/C(\d+)(?:\s*(?:to|[-–])\s*C(\d+))?/g)) {
    const from = Number(first);
    for (let number = from; number <= Number(last ?? first); number++) found.push(number);
  }
  return found;
}

/** Every test of the page below these folders. */
export async function tests(folders: readonly string[]): Promise<Test[]> {
  const found: Test[] = [];
  for (const folder of folders) {
    for (const path of (await readdir(join(ui, folder), { recursive: true })).sort()) {
      if (!/\.test\.tsx?$/.test(path)) continue;
      const file = relative(ui, join(ui, folder, path)).split(sep).join("/");
      found.push(...titles(file, await readFile(join(ui, file), "utf8")).map((title) => ({ file, title })));
    }
  }
  return found;
}

/** The cases that no test has. */
export function missing(all: readonly Test[]): number[] {
  const held = new Set(all.flatMap(({ title }) => casesOf(title)));
  return Array.from({ length: CASES }, (_, index) => index + 1).filter((number) => !held.has(number));
}

/** The part of the document that is made from the tests. */
export function table(all: readonly Test[]): string {
  const rows = all.flatMap((test) => casesOf(test.title).map((number) => ({ number, test })));
  rows.sort((a, b) => a.number - b.number);
  const lines = rows.map(({ number, test }) => `| C${number.toString()} | \`${test.file}\` | ${cell(test.title)} |`);
  return ["| case | test | title |", "|---|---|---|", ...lines].join("\n");
}

function list(all: readonly Test[]): string {
  const files = [...new Set(all.map(({ file }) => file))];
  return files.map((file) => [`\`${file}\`:`, "", ...all.filter((test) => test.file === file).map(({ title }) => `- ${cell(title)}`)].join("\n")).join("\n\n");
}

function cell(title: string): string {
  return title.replaceAll("|", "\\|").replaceAll("<", "\\<");
}

/** The document with its made part put in anew. */
export async function refreshed(text: string): Promise<string> {
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${document} has lost its marks`);
  const made = [table(await tests(["src", "scripts"])), "## In a browser\n\nAgainst the built program, with Chromium:", list(await tests(["e2e"]))];
  return [before, BEGIN, "\n\n", made.join("\n\n"), "\n\n", END, after].join("");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = await readFile(document, "utf8");
  const fresh = await refreshed(text);
  if (process.argv.includes("--write")) await writeFile(document, fresh);
  const lost = missing(await tests(["src", "scripts"]));
  console.log(`${CASES.toString()} cases, without a test: ${lost.map((number) => `C${number.toString()}`).join(", ") || "none"}`);
  process.exitCode = lost.length === 0 && (fresh === text || process.argv.includes("--write")) ? 0 : 1;
}
