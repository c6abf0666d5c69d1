// @vitest-environment node
import { describe, expect, it } from "vitest";
import { ask, asking, message, question } from "../testing/builders";
import { age, ServerTime } from "./time";
import { byteLength, clipped, firstText, messageFlags, visible, visibleLine } from "./text";

describe("foreign text", () => {
  it("shows what would hide or reorder", () => {
    for (const hidden of ["\u202E", "\u202A", "\u2066", "\u2069", "\u200B", "\u200E", "\u061C", "\u00AD", "\uFEFF", "\u2060", "\u2028", "\u0000", "\u001B", "\u{E0041}", "\u115F", "\u3164", "\uFFA0", "\u180E"]) {
      const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      expect(visible(`a${hidden}b`)).toBe(`a⟦U+${code}⟧b`);
    }
  });

  it("a joiner or selector outside an emoji poses as nothing, and is shown", () => {
    expect(visible("a\u200Db")).toBe("a⟦U+200D⟧b");
    expect(visible("a\u200Cb")).toBe("a⟦U+200C⟧b");
    expect(visible("a\uFE0Fb")).toBe("a⟦U+FE0F⟧b");
  });

  it("leaves ordinary writing alone: other scripts, accents, emoji, lines", () => {
    for (const plain of ["Größe naïve", "שלום", "مرحبا", "日本語", "e\u0301", "👩‍👩‍👧", "👍🏽", "❤️", "🏳️‍🌈", "one\ntwo\tthree"]) expect(visible(plain)).toBe(plain);
  });

  it("of one line is on one line", () => {
    expect(visibleLine("  a \n\t b\u2028c\u202E ")).toBe("a b c⟦U+202E⟧");
  });

  it("begins with the first text or question", () => {
    expect(firstText([{ kind: "unknown" }, { kind: "text", text: "a\nb" }])).toBe("a b");
    expect(firstText([asking(ask("a", [question("q", { question: "Why\u202E?" })]))])).toBe("Why⟦U+202E⟧?");
    expect(firstText([{ kind: "unknown" }])).toBe("");
  });

  it("is cut between code points and measured in bytes", () => {
    expect(clipped("👍👍👍", 2)).toBe("👍…");
    expect(clipped("ab", 2)).toBe("ab");
    expect(byteLength("é👍")).toBe(6);
  });

  it("a message with an ask is flagged, whatever became of the ask", () => {
    expect(messageFlags(message(1, "x"))).toEqual([]);
    expect(messageFlags(message(1, [asking(ask("a", [question("q")], { kind: "cancelled", at: 1 }))]))).toEqual(["ASK"]);
  });
});

describe("the server's time", () => {
  it("is what the server said last, and old stamps do not turn it back", () => {
    let local = 1_000;
    const time = new ServerTime(() => local, () => 7);
    expect(time.now()).toBe(7);
    // A client whose clock is a day behind.
    time.observe(86_400_000);
    expect(time.now()).toBe(86_400_000);
    local += 500;
    time.observe(5);
    time.observe(0);
    expect(time.now()).toBe(86_400_500);
    time.observe(86_400_900);
    expect(time.now()).toBe(86_400_900);
    time.forget();
    expect(time.now()).toBe(7);
  });

  it("ages in minutes, hours and days, and never into the future", () => {
    const minute = 60_000;
    const of = (ago: number) => age(1_000_000_000 - ago, 1_000_000_000);
    expect([of(-5 * minute), of(0), of(minute - 1)].map((each) => each.unit)).toEqual(["now", "now", "now"]);
    expect(of(minute)).toEqual({ unit: "minute", count: 1 });
    expect(of(59 * minute)).toEqual({ unit: "minute", count: 59 });
    expect(of(60 * minute)).toEqual({ unit: "hour", count: 1 });
    expect(of(49 * 60 * minute)).toEqual({ unit: "day", count: 2 });
  });
});
