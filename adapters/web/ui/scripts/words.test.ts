// @vitest-environment node
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { STOP_WORDS } from "../src/model/snippet.ts";

it("words that a search leaves out are the same here and on the server", async () => {
  const source = await readFile(fileURLToPath(new URL("../../../../domain/src/search.rs", import.meta.url)), "utf8");
  const list = /const STOP_WORDS[^=]*= \[([^\]]*)\]/.exec(source)?.[1] ?? "";
  expect([...list.matchAll(/"(\w+)"/g)].map((match) => match[1])).toEqual([...STOP_WORDS]);
});
