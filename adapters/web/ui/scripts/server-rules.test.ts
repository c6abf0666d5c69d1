// @vitest-environment node
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { RESERVED_HANDLES } from "../src/components/named.ts";
import { LIMITS } from "../src/model/limits.ts";
import { STOP_WORDS } from "../src/model/snippet.ts";
import { LINK_MS } from "../src/views/settings/token.ts";

const rust = (path: string) => readFile(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), "utf8");

/** The words of a list. */
const words = (source: string, name: string): readonly (string | undefined)[] => {
  const list = new RegExp(`const ${name}\\b[^=]*= \\[([^\\]]*)\\]`).exec(source)?.[1] ?? "";
  return [...list.matchAll(/"(\w+)"/g)].map((match) => match[1]);
};

/** A number, written as a product. */
const number = (source: string, name: string): number => {
  const product = new RegExp(`const ${name}: \\w+ = ([\\d_* ]+);`).exec(source)?.[1] ?? "";
  return product.split("*").reduce((value, factor) => value * parseInt(factor.replaceAll("_", ""), 10), 1);
};

/** What the server calls the limits that the page knows. */
const NAMES: Readonly<Record<keyof typeof LIMITS, readonly string[]>> = {
  messageBytes: ["MESSAGE_BYTES"],
  questions: ["QUESTIONS"],
  options: ["OPTIONS"],
  questionBytes: ["QUESTION_BYTES"],
  headerCharacters: ["HEADER_CODE_POINTS"],
  labelBytes: ["LABEL_BYTES"],
  descriptionBytes: ["DESCRIPTION_BYTES"],
  previewBytes: ["PREVIEW_BYTES"],
  customTextBytes: ["CUSTOM_TEXT_BYTES"],
  answersBytes: ["ANSWER_TEXT_BYTES"],
  nameCharacters: ["TOPIC_NAME_CODE_POINTS", "CHANNEL_NAME_CODE_POINTS", "DISPLAY_NAME_CODE_POINTS"],
  handleBytes: ["HANDLE_BYTES"],
};

describe("what the page knows of the server's rules is what the server says", () => {
  it("words that a search leaves out", async () => {
    expect(words(await rust("domain/src/search.rs"), "STOP_WORDS")).toEqual([...STOP_WORDS]);
  });

  it("handles that nobody may take", async () => {
    expect(words(await rust("domain/src/account.rs"), "RESERVED_HANDLES")).toEqual([...RESERVED_HANDLES]);
  });

  it("limits on what is sent", async () => {
    const source = await rust("domain/src/limits.rs");
    const known = Object.entries(NAMES).flatMap(([limit, names]) => names.map((name) => [limit, number(source, name)]));
    const here: Readonly<Record<string, number>> = LIMITS;
    expect(known).toEqual(known.map(([limit]) => [limit, here[String(limit)]]));
  });

  it("how long a sign-in link works", async () => {
    expect(number(await rust("application/comms/src/tokens/issue.rs"), "SIGN_IN_LIFETIME_MS")).toBe(LINK_MS);
  });
});
