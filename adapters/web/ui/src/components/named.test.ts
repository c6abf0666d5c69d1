// @vitest-environment node
import { describe, expect, it } from "vitest";
import { handleProblem, nameProblem } from "./named";

describe("names", () => {
  it("are counted in characters without the white space around them; a NUL is named with its place", () => {
    expect(nameProblem("The name", ` ${"🧭".repeat(120)} `)).toBeUndefined();
    expect(nameProblem("The name", "🧭".repeat(121))).toBe("The name is too long: at most 120 characters, it has 121.");
    expect(nameProblem("The name", "🧭\0")).toBe("The name holds a NUL character, at place 2, which cannot be sent.");
  });
});

describe("handles", () => {
  it.each(["", "a", "0", "bot-1", "a._-", "x".repeat(64), " ann "])("%j can be one, or become one", (handle) => expect(handleProblem(handle)).toBeUndefined());
  it.each([
    ["Ann", "starts with a character"],
    ["-a", "starts with a character"],
    ["bEn", "at place 2"],
    ["a b", "at place 2"],
    ["ü", "starts with a character"],
    ["a\0", "holds a NUL character, at place 2"],
    ["x".repeat(65), "at most 64 bytes, it has 65 bytes"],
    ["everyone", "The handle everyone is reserved."],
  ])("%j cannot, and what is wrong is said", (handle, said) => expect(handleProblem(handle)).toContain(said));
});
