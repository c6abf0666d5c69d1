/** Rules for the built page: what may not be in it, and how large its first view may be. Knows no file system and no bundler. */

/** A file of the built page. */
export interface BuiltFile {
  /** From the folder's top, with forward slashes. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A chunk as the bundler describes it. */
export interface Chunk {
  readonly name: string;
  /** Paths of the source modules that it is made of. */
  readonly modules: readonly string[];
  /** Chunks that are loaded with it, not later. */
  readonly imports: readonly string[];
  /** Style sheets that are loaded with it. */
  readonly styles: readonly string[];
  /** True for what the document names, and for what that asks for without waiting for anything. */
  readonly entry: boolean;
}

/** What the scripts may weigh until the first view is there, in bytes as browsers are sent them. */
export const FIRST_VIEW_LIMIT = 90_000;

const FORBIDDEN_MODULES: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: "test code", pattern: /\/(src\/testing|e2e|scripts)\/|\.test\.tsx?$/ },
  { what: "a test library", pattern: /\/node_modules\/(vitest|@vitest|@testing-library|@solidjs\/testing-library|jsdom|axe-core|playwright-core|fast-check)\// },
  { what: "a library's development build", pattern: /\/node_modules\/.*[/.](?:dev|development)(?:\/|\.\w*js$)/ },
];

const FORBIDDEN_TEXTS: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: "a development address", pattern: /\blocalhost\b|\b127\.0\.0\.1\b|\[::1\]|\b0\.0\.0\.0\b/ },
  { what: "a development client", pattern: /@vite\/client|import\.meta\.hot|__vite_(?:hmr|ssr)/ },
  { what: "a source map", pattern: /[#@]\s*source(?:Mapping)?URL=/ },
  { what: "a source path", pattern: /\bfile:\/\/|\bsrc\/[\w./-]+\.(?:tsx?|css)\b|node_modules\// },
];

/** Texts that may be there all the same; each with its reason. */
const ALLOWED_TEXTS: readonly RegExp[] = [
  // How Solid names a view that is loaded later, for servers that render: no more than what the file itself is called.
  /,\s*["'`]src\/[\w/-]+\.tsx["'`]\)/g,
];

/** Every reason why these files may not be shipped; `folders` are machine paths that may not occur. */
export function findings(files: readonly BuiltFile[], chunks: readonly Chunk[], folders: readonly string[]): string[] {
  const found: string[] = [];
  for (const { name, modules } of chunks) {
    for (const { what, pattern } of FORBIDDEN_MODULES) {
      found.push(...modules.filter((module) => pattern.test(module)).map((module) => `${name} holds ${what}: ${module}`));
    }
  }
  for (const { name, bytes } of files) {
    if (name.endsWith(".map")) found.push(`${name} is a source map`);
    // Compressed copies say nothing of their own.
    if (/\.(br|gz|woff2?)$/.test(name)) continue;
    const text = ALLOWED_TEXTS.reduce((rest, allowed) => rest.replaceAll(allowed, ""), new TextDecoder().decode(bytes));
    for (const { what, pattern } of FORBIDDEN_TEXTS) {
      const match = pattern.exec(text);
      if (match) found.push(`${name} holds ${what}: ${around(text, match.index)}`);
    }
    for (const folder of folders) {
      const at = text.indexOf(folder);
      if (at >= 0) found.push(`${name} holds a machine path: ${around(text, at)}`);
    }
  }
  return found;
}

/** The names of the files that are loaded until the first view: entries, what they import, its styles. */
export function firstView(chunks: readonly Chunk[]): string[] {
  const byName = new Map(chunks.map((chunk) => [chunk.name, chunk]));
  const names = new Set<string>();
  const waiting = chunks.filter((chunk) => chunk.entry).map((chunk) => chunk.name);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (names.has(name)) continue;
    names.add(name);
    const chunk = byName.get(name);
    if (chunk === undefined) throw new Error(`${name} is imported and not built`);
    waiting.push(...chunk.imports);
    for (const style of chunk.styles) names.add(style);
  }
  return [...names].sort();
}

/** Files that are in one of two builds only, or differ. */
export function differences(left: readonly BuiltFile[], right: readonly BuiltFile[]): string[] {
  const other = new Map(right.map(({ name, bytes }) => [name, bytes]));
  const found: string[] = [];
  for (const { name, bytes } of left) {
    const match = other.get(name);
    other.delete(name);
    if (match === undefined) found.push(`${name} is missing`);
    else if (match.length !== bytes.length || match.some((byte, index) => byte !== bytes[index])) found.push(`${name} differs`);
  }
  return [...found, ...[...other.keys()].map((name) => `${name} is extra`)].sort();
}

function around(text: string, index: number): string {
  return JSON.stringify(text.slice(Math.max(0, index - 30), index + 50));
}
