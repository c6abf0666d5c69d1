/** What an ask block shows, worked out from the ask and from what is staged for it. */
import { byteText, LIMITS } from "../model/limits";
import { byteLength, visibleLine } from "../model/text";
import type { Ask, AskOption, AskQuestion, QuestionAnswer } from "../model/types";
import { isOpen, stagedFor } from "../store/asks";
import type { Staged, StagedAnswer } from "../store/contract";
import { askText } from "../strings";
import { bytesProblem } from "./field";

/** Nothing more can be picked, typed or sent. */
export function isClosed(ask: Ask, staged: Staged | undefined): boolean {
  return !isOpen(ask) || staged?.submitted === true;
}

/** The look of the block: a withdrawn ask is never shown as answered. */
export function lookOf(ask: Ask, staged: Staged | undefined): "open" | "sending" | "answered" | "cancelled" {
  if (ask.end.kind !== "open") return ask.end.kind;
  return staged?.submitted === true ? "sending" : "open";
}

/** What the question shows as chosen and typed: the recorded answer once closed, the staged one before. */
export function shownAnswer(ask: Ask, question: AskQuestion, staged: Staged | undefined): StagedAnswer {
  if (ask.end.kind !== "open") return { chosen: question.chosen, text: question.customText };
  return stagedFor(staged, question.id);
}

export function hintOf(question: AskQuestion): string {
  if (question.options.length === 0) return askText.hintText;
  return question.multiple ? askText.hintMultiple : askText.hintSingle;
}

export function placeholderOf(question: AskQuestion): string {
  if (question.options.length === 0) return askText.placeholderText;
  return question.multiple ? askText.placeholderMultiple : askText.placeholderWithOptions;
}

/** What an option is called: nothing keeps an asker from leaving its label blank. */
export const optionName = (option: AskOption, index: number): string => visibleLine(option.label) || askText.option(index + 1);

/** The names of what was chosen, in the order of the options; an id without an option stands for itself. */
export function chosenLabels(question: AskQuestion, chosen: QuestionAnswer["chosen"]): readonly string[] {
  const known = question.options.flatMap((option, index) => (chosen.includes(option.id) ? [optionName(option, index)] : []));
  const unknown = chosen.filter((id) => !question.options.some((option) => option.id === id));
  return [...known, ...unknown.map(visibleLine)];
}

/** The index that Digit1 to Digit9 mean, or undefined for any other key. */
export function digitIndex(key: string): number | undefined {
  return /^[1-9]$/.test(key) ? Number(key) - 1 : undefined;
}

/** Why a typed answer cannot be sent, or undefined. */
export function textProblem(answer: StagedAnswer): string | undefined {
  return bytesProblem(askText.thisAnswer, answer.text.trim(), LIMITS.customTextBytes);
}

/** Why what is staged cannot be sent as one, or undefined. */
export function answersProblem(ask: Ask, staged: Staged | undefined): string | undefined {
  const texts = ask.questions.map((question) => byteLength(shownAnswer(ask, question, staged).text.trim()));
  const total = texts.reduce((sum, length) => sum + length, 0);
  return total > LIMITS.answersBytes ? askText.allTooLong(byteText(LIMITS.answersBytes), byteText(total)) : undefined;
}
