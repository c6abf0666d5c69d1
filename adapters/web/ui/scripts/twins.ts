/** Compressed twins of the built files, which the server sends to browsers that take them. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import type { Plugin } from "vite";

/** Fewer bytes are not worth compressing; the server draws the same line. */
export const SMALL = 1024;

/** True for a file that has a twin: its name with `.br` at the end. */
export function hasTwin(name: string, size: number): boolean {
  return /\.(js|css|html|svg)$/.test(name) && size >= SMALL;
}

/** The best that there is: it is done once and read often. */
export function compressed(bytes: Uint8Array): Uint8Array {
  return brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
}

/** Files without the twin they should have, and twins that are not what they stand for. */
export function twinFindings(files: ReadonlyMap<string, Uint8Array>): string[] {
  const found: string[] = [];
  for (const [name, bytes] of files) {
    if (hasTwin(name, bytes.length) && !files.has(`${name}.br`)) found.push(`${name} has no twin`);
    if (!name.endsWith(".br")) continue;
    const original = files.get(name.slice(0, -".br".length));
    if (original === undefined || !brotliDecompressSync(bytes).equals(original)) found.push(`${name} is not its file compressed`);
  }
  return found;
}

/** Writes the twins after a build. */
export function twins(): Plugin {
  return {
    name: "twins",
    apply: "build",
    async writeBundle({ dir }, bundle) {
      if (dir === undefined) return;
      for (const name of Object.keys(bundle)) {
        const path = join(dir, name);
        const bytes = await readFile(path);
        if (hasTwin(name, bytes.length)) await writeFile(`${path}.br`, compressed(bytes));
      }
    },
  };
}
