// @vitest-environment node
import { describe, expect, it } from "vitest";
import { splitMentions } from "./mentions";

const handles = (text: string) => splitMentions(text).flatMap((part) => (part.kind === "mention" ? [part.handle] : []));

describe("C37 who is named", () => {
  it.each([
    ["hi @Bob, and @bob", ["bob", "bob"]], ["@bob.", ["bob"]], ["@a.b-c_d...", ["a.b-c_d"]], ["me@example.com", []], ["@", []], ["@.bob", []], ["(@bob)", ["bob"]],
    ["@everyone @agents @users", ["everyone", "agents", "users"]], ["@bob@carol", ["bob"]], ["a.@bob", []], ["+@bob", []], ["%@bob", []], ["ä@bob", ["bob"]],
    ["@-bob", []], ["@9", ["9"]], ["@bob-", ["bob-"]], ["@bob_.", ["bob_"]], ["@\u202Ebob", []],
  ])("%j names %j", (text, expected) => expect(handles(text)).toEqual(expected));
  it("the parts joined are the text, whatever it is", () => {
    for (const text of ["", "@", "x @bob. y@z @A..b @@c", "@bob", "é@É @e\u0301"]) expect(splitMentions(text).map((part) => part.text).join("")).toBe(text);
  });
  it("a long text without an end is split in time", () => {
    const started = performance.now();
    splitMentions("@".repeat(100_000));
    splitMentions(`@${"a.".repeat(100_000)}`);
    splitMentions("@a".repeat(100_000));
    expect(performance.now() - started).toBeLessThan(3000);
  });
});
