// @vitest-environment node
import { describe, expect, it } from "vitest";
import { answering, ask, asking, question, text } from "../testing/builders";
import type { Block } from "./types";
import { snippet } from "./snippet";

/** The pieces as one line, what is marked in brackets. */
const line = (blocks: readonly Block[] | string, query: string, limit = 60) =>
  snippet(typeof blocks === "string" ? [text(blocks)] : blocks, query, limit).map((piece) => (piece.marked ? `[${piece.text}]` : piece.text)).join("");

describe("the part of a message that a search found", () => {
  it("marks every word that was looked for, whatever its case and composition, and nothing else", () => {
    expect(line("We DEPLOY the café today", "deploy cafe\u0301")).toBe("We [DEPLOY] the [café] today");
    expect(line("undeployed deployable x", "deploy")).toBe("undeployed deployable x");
  });
  it.each([
    ["launched", "it is launching", "it is [launching]"],
    ["deploy", "two deploys, one deployed, a deployment", "two [deploys], one [deployed], a [deployment]"],
    ["cities", "a city", "a [city]"],
    ["plan", "planned, planning", "[planned], [planning]"],
    ["release", "released", "[released]"],
  ])("marks other forms of a word: %s", (query, of, expected) => expect(line(of, query)).toBe(expected));
  it("marks words of phrases and of alternatives, not what is kept out, and no words that say nothing", () => {
    const of = "the fall of rome or the dry run of staging";
    expect(line(of, '"fall of rome"')).toBe("the [fall] of [rome] or the dry run of staging");
    expect(line(of, "rome or run -staging")).toBe("the fall of [rome] or the dry [run] of staging");
    expect(line(of, 'rome -"dry run"')).toBe("the fall of [rome] or the dry run of staging");
  });
  it("begins shortly before the first hit and ends at the limit, and says that there is more", () => {
    const of = `${"before ".repeat(100)}needle ${"after ".repeat(100)}`;
    const shown = line(of, "needle");
    expect(shown).toMatch(/^…(?:before )+\[needle\] (?:after )+\w*…$/);
    expect(shown.length).toBeLessThan(70);
    expect(line("needle first", "needle")).toBe("[needle] first");
  });
  it("a word that is longer than the limit, and characters of two units, do no harm", () => {
    expect(line(`${"x".repeat(200)} needle`, "needle")).toBe("…[needle]");
    expect(line(`needle ${"🧭".repeat(60)}`, "needle", 10)).toBe("[needle] 🧭…");
    expect(line("x".repeat(100), "x".repeat(100), 10)).toBe("xxxxxxxxxx…");
  });
  it("looks into questions and answers in own words; the text with most of the words is shown", () => {
    const asked = ask("a", [question("q1", { question: "Deploy?" }), question("q2", { question: "Deploy on Friday?" })]);
    expect(line([text("deploy"), asking(asked)], "deploy friday")).toBe("[Deploy] on [Friday]?");
    const answered = ask("b", [question("q1", { question: "When?", options: [], customText: "after lunch" })], { kind: "answered", by: "user-ann", at: 1 });
    expect(line([answering(answered, "agent-bot")], "lunch")).toBe("after [lunch]");
  });
  it("where nothing can be marked the beginning is shown; what is hidden in a text is seen", () => {
    expect(line("hello there", "elsewhere")).toBe("hello there");
    expect(line("a \u202E needle", "needle")).toBe("a ⟦U+202E⟧ [needle]");
    expect(line([], "x")).toBe("");
  });
});
