/** The page's build, kept in memory together with what the bundler knows of it. */
import { type InlineConfig, build } from "vite";
import type { BuiltFile, Chunk } from "./scan.ts";

/** What the document loads, and the page's start, which the first module asks for at once. */
const ENTRIES = ["/index.html", "/src/start.ts"];

export interface Built {
  readonly files: readonly BuiltFile[];
  readonly chunks: readonly Chunk[];
}

/** Builds without writing; `config` is laid over the page's own. */
export async function buildInMemory(config: InlineConfig): Promise<Built> {
  const result = await inProduction(() => build({ logLevel: "error", ...config, build: { ...config.build, write: false } }));
  const outputs = Array.isArray(result) ? result : [result];
  const files: BuiltFile[] = [];
  const chunks: Chunk[] = [];
  for (const one of outputs) {
    if (!("output" in one)) throw new Error("the bundler watches instead of building");
    for (const item of one.output) {
      if (item.type === "asset") {
        files.push({ name: item.fileName, bytes: bytes(item.source) });
        continue;
      }
      files.push({ name: item.fileName, bytes: bytes(item.code) });
      chunks.push({
        name: item.fileName,
        modules: item.moduleIds,
        imports: item.imports,
        styles: [...(item.viteMetadata?.importedCss ?? [])],
        entry: isEntry(item.facadeModuleId),
      });
    }
  }
  const entries = chunks.filter(({ entry }) => entry).length;
  if (entries !== ENTRIES.length) throw new Error(`the page has ${entries.toString()} entries where ${ENTRIES.join(" and ")} were looked for`);
  return { files, chunks };
}

function isEntry(module: string | null): boolean {
  return module !== null && ENTRIES.some((entry) => module.endsWith(entry));
}

/** A test runner's environment would make the bundler take the libraries' development builds. */
async function inProduction<T>(work: () => Promise<T>): Promise<T> {
  const before = process.env["NODE_ENV"];
  process.env["NODE_ENV"] = "production";
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
}

function bytes(source: string | Uint8Array): Uint8Array {
  return typeof source === "string" ? new TextEncoder().encode(source) : source;
}
