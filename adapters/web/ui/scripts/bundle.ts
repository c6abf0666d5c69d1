/** Checks the built page in a folder: `node scripts/bundle.ts FOLDER`. */
import { readFile, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";
import { buildInMemory } from "./build.ts";
import { type BuiltFile, FIRST_VIEW_LIMIT, differences, findings, firstView } from "./scan.ts";
import { compressed, twinFindings } from "./twins.ts";

async function read(folder: string): Promise<BuiltFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.map(async (path) => ({ name: relative(folder, path).split(sep).join("/"), bytes: await readFile(path) })),
  );
}

function kilobytes(size: number): string {
  return (size / 1000).toFixed(1).padStart(8);
}

const source = fileURLToPath(new URL("..", import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node scripts/bundle.ts FOLDER");

const files = await read(folder);
const { files: fresh, chunks } = await buildInMemory({ root: source });
// What the bundler says of modules is only true of the very bytes that it made.
const known = new Set(fresh.map(({ name }) => name));
const stale = differences(fresh, files.filter(({ name }) => known.has(name)));
const found = [...stale.map((line) => `not what the source builds: ${line}`), ...findings(files, chunks, [source, join(homedir(), sep)])];

const byName = new Map(files.map((file) => [file.name, file.bytes]));
found.push(...twinFindings(byName));
console.log("      br     gzip  until the first view, in kB");
const total = { js: 0, css: 0, jsGzip: 0, cssGzip: 0 };
for (const name of firstView(chunks)) {
  const bytes = byName.get(name) ?? new Uint8Array();
  const [br, gzip] = [compressed(bytes).length, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }).length];
  const isScript = name.endsWith(".js");
  total[isScript ? "js" : "css"] += br;
  total[isScript ? "jsGzip" : "cssGzip"] += gzip;
  console.log(`${kilobytes(br)} ${kilobytes(gzip)}  ${name}`);
}
console.log(`${kilobytes(total.css)} ${kilobytes(total.cssGzip)}  all styles`);
console.log(`${kilobytes(total.js)} ${kilobytes(total.jsGzip)}  all scripts, at most ${(FIRST_VIEW_LIMIT / 1000).toString()} in br`);
if (total.js > FIRST_VIEW_LIMIT) found.push(`the first view loads ${total.js.toString()} bytes of script, more than ${FIRST_VIEW_LIMIT.toString()}`);

for (const line of found) console.error(line);
console.log(`${files.length.toString()} files, ${chunks.length.toString()} chunks, ${found.length.toString()} findings`);
process.exitCode = found.length === 0 ? 0 : 1;
