// @vitest-environment node
import { describe, expect, it } from "vitest";
import { newAsk, newOption, newQuestion, removeOption, toAsk } from "../store/ask-form";
import type { AskForm, QuestionForm } from "../store/ask-form";
import { problemsOf } from "./ask-draft";

const question = (change: Partial<QuestionForm> = {}): QuestionForm => ({ ...newQuestion(), question: "Why?", ...change });
const form = (change: Partial<QuestionForm> = {}): AskForm => ({ questions: [question(change)] });
const options = (count: number) => Array.from({ length: count }, (_, index) => ({ ...newOption(), label: `o${index}` }));
const texts = (of: AskForm) => problemsOf(of).map((problem) => problem.text);

describe("an ask of a person's", () => {
  it("ids are given by position; texts are trimmed, previews are not", () => {
    const ask = toAsk(form({ question: " Why? ", header: " h ", recommended: 0, options: [{ label: " a ", description: " b ", preview: "  c" }] }));
    expect(ask).toEqual({ questions: [{ id: "q1", question: "Why?", header: "h", multiple: false, recommended: 0, options: [{ id: "0", label: "a", description: "b", preview: "  c" }] }] });
  });
  it("blank fields are named, as something that is yet to be written", () => {
    expect(problemsOf(newAsk())).toEqual([{ kind: "blank", text: "Question 1: Question is empty." }]);
    expect(texts(form({ options: [newOption()] }))).toEqual(["Question 1, option 1: Label is empty."]);
    expect(texts(form())).toEqual([]);
  });
  it("options of one question that say the same are named, white space around them or not; those of two questions are not", () => {
    const labelled = (...labels: readonly string[]) => labels.map((label) => ({ ...newOption(), label }));
    expect(problemsOf(form({ options: labelled("Yes", "No", " Yes ") }))).toEqual([{ kind: "same", text: "Question 1, option 3: Label is the same as that of option 1." }]);
    expect(texts({ questions: [question({ options: labelled("Yes", "yes") }), question({ options: labelled("Yes") })] })).toEqual([]);
    expect(texts(form({ options: labelled("", " ") }))).toEqual(["Question 1, option 1: Label is empty.", "Question 1, option 2: Label is empty."]);
  });
  it.each([
    ["question", form({ question: "x".repeat(8 * 1024 + 1) }), "Question 1: Question is too long: at most 8 KiB, it has 8,193 bytes."],
    ["header", form({ header: "🧭".repeat(65) }), "Question 1: Short header is too long: at most 64 characters, it has 65."],
    ["label", form({ options: [{ ...newOption(), label: "ä".repeat(513) }] }), "Question 1, option 1: Label is too long: at most 1 KiB, it has 1,026 bytes."],
    ["description", form({ options: [{ label: "a", description: "x".repeat(4097), preview: "" }] }), "Question 1, option 1: Description is too long: at most 4 KiB, it has 4,097 bytes."],
    ["preview", form({ options: [{ label: "a", description: "", preview: "x".repeat(65 * 1024) }] }), "Question 1, option 1: Preview is too long: at most 64 KiB, it has 65 KiB."],
    ["options", form({ options: options(65) }), "Question 1: Options: at most 64, there are 65."],
    ["questions", { questions: Array.from({ length: 33 }, () => question()) }, "Questions: at most 32, there are 33."],
    ["NUL", form({ header: "a\0" }), "Question 1: Short header holds a NUL character, at place 2, which cannot be sent."],
  ] as const)("M3 limit of %s: field, limit and size are named", (_, of, text) => expect(texts(of)).toEqual([text]));
  it("M3 just within the limits nothing is refused", () => {
    expect(texts(form({ question: "x".repeat(8 * 1024), header: "🧭".repeat(64), options: options(64) }))).toEqual([]);
  });
  it("M3 the whole has a limit of its own", () => {
    const whole = form({ options: Array.from({ length: 5 }, (_, index) => ({ label: `a${index}`, description: "", preview: "x".repeat(60 * 1024) })) });
    expect(texts(whole)).toHaveLength(1);
    expect(texts(whole)[0]).toMatch(/^The ask as a whole is too long: at most 256 KiB, it has 307,\d+ bytes\.$/);
  });
  it.each([[0, 1, 0], [1, 1, undefined], [2, 1, 1], [undefined, 1, undefined]])("recommended %s, option %s taken out: then %s", (recommended, index, then) => {
    const of = question({ options: options(3), recommended });
    removeOption(of, index);
    expect(of.recommended).toBe(then);
  });
});
