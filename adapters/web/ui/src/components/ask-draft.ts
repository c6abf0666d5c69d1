/** Why an ask that a person writes cannot be posted yet. Pure. */
import { byteText, encodedSize, LIMITS } from "../model/limits";
import type { AskDraft, NewBlock } from "../model/types";
import { toAsk } from "../store/ask-form";
import type { AskForm } from "../store/ask-form";
import { askComposerText as words, fieldText } from "../strings";
import { bytesProblem, charactersProblem } from "./field";

/** Blank: something is yet to be written. Same: two cannot be told apart. Limit: something is too much. */
export interface Problem {
  readonly kind: "blank" | "same" | "limit";
  readonly text: string;
}

/** Everything that keeps the ask from being posted, each with its field, its limit and its size. */
export function problemsOf(form: AskForm): readonly Problem[] {
  const ask = toAsk(form);
  const blocks: readonly NewBlock[] = [{ kind: "ask", ask }];
  const size = encodedSize(blocks);
  return [
    ...tooMany(words.questions, ask.questions.length, LIMITS.questions),
    ...ask.questions.flatMap((question, index) => questionProblems(question, index + 1)),
    ...(size > LIMITS.messageBytes ? [limit(fieldText.tooLong(words.whole, byteText(LIMITS.messageBytes), byteText(size)))] : []),
  ];
}

function questionProblems(question: AskDraft["questions"][number], n: number): readonly Problem[] {
  const of = (field: string) => words.fieldOfQuestion(n, field);
  return [
    ...blank(of(words.questionField), question.question),
    ...tooLong(of(words.questionField), question.question, LIMITS.questionBytes),
    ...tooManyCharacters(of(words.header), question.header, LIMITS.headerCharacters),
    ...tooMany(of(words.options), question.options.length, LIMITS.options),
    ...question.options.flatMap((option, index) => {
      const ofOption = (field: string) => words.fieldOfOption(n, index + 1, field);
      return [
        ...blank(ofOption(words.label), option.label),
        ...sameLabel(ofOption(words.label), question.options, index),
        ...tooLong(ofOption(words.label), option.label, LIMITS.labelBytes),
        ...tooLong(ofOption(words.description), option.description, LIMITS.descriptionBytes),
        ...tooLong(ofOption(words.preview), option.preview, LIMITS.previewBytes),
      ];
    }),
  ];
}

const limit = (text: string): Problem => ({ kind: "limit", text });

function blank(field: string, text: string): readonly Problem[] {
  return text === "" ? [{ kind: "blank", text: words.blank(field) }] : [];
}

/** An answer names options by their labels, and an ask cannot be taken back. */
function sameLabel(field: string, options: AskDraft["questions"][number]["options"], index: number): readonly Problem[] {
  const label = options[index]?.label;
  const first = options.findIndex((option) => option.label === label);
  return label === "" || first === index ? [] : [{ kind: "same", text: words.sameLabel(field, first + 1) }];
}

function tooMany(field: string, actual: number, most: number): readonly Problem[] {
  return actual > most ? [limit(words.tooMany(field, most, actual))] : [];
}

function tooLong(field: string, text: string, most: number): readonly Problem[] {
  const found = bytesProblem(field, text, most);
  return found === undefined ? [] : [limit(found)];
}

function tooManyCharacters(field: string, text: string, most: number): readonly Problem[] {
  const found = charactersProblem(field, text, most);
  return found === undefined ? [] : [limit(found)];
}
