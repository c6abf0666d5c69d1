// @vitest-environment node
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { casesOf, document, missing, refreshed, table, tests, titles } from "./cases.ts";

describe("the cases of the page", () => {
  it("have a test each", async () => {
    expect(missing(await tests(["src", "scripts"]))).toEqual([]);
  });

  it("stand in the document with the tests that there are", async () => {
    const text = await readFile(document, "utf8");
    expect(text, "run `npm run cases -- --write`").toBe(await refreshed(text));
  });
});

describe("the reader of tests", () => {
  it("takes titles of tests, not of groups, skipped ones or comments", () => {
    const text = `
      // it("C1 in a comment", () => {});
      describe("C2 a group", () => {
        it("C3 a test", () => {});
        test(\`C4 a template\`, () => {});
        it.each([1, 2])("C5 each %s", () => {});
        it.skip("C6 skipped", () => {});
        it.todo("C7 to do");
        quit("C8 another function", () => {});
      });
    `;
    expect(titles("a.test.tsx", text)).toEqual(["C3 a test", "C4 a template", "C5 each %s"]);
  });

  it("reads one case, several and a range, and no number further on", () => {
    expect(casesOf("C16 a click sends nothing")).toEqual([16]);
    expect(casesOf("C16, C17 and C18 together")).toEqual([16, 17, 18]);
    expect(casesOf("C1–C3 in order")).toEqual([1, 2, 3]);
    expect(casesOf("C31: push first, unlike C22")).toEqual([31]);
    expect(casesOf("counts like C5")).toEqual([]);
  });

  it("names a case that no test has", () => {
    const all = Array.from({ length: 46 }, (_, index) => ({ file: "a.test.ts", title: `C${(index + 1).toString()} x` }));
    expect(missing(all)).toEqual([]);
    expect(missing(all.filter(({ title }) => title !== "C32 x"))).toEqual([32]);
  });

  it("puts a test of two cases into both rows", () => {
    expect(table([{ file: "a.test.ts", title: "C2, C1 a | b" }]).split("\n").slice(2)).toEqual([
      "| C1 | `a.test.ts` | C2, C1 a \\| b |",
      "| C2 | `a.test.ts` | C2, C1 a \\| b |",
    ]);
  });
});
