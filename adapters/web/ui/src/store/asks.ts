/**
 * What a person has picked and typed and not sent. Pure: every rule of staging is here and nowhere else.
 *
 * Recording never sends; `submit` alone does. The server's word wins: a closed ask drops what was staged, an open one
 * keeps it as long as its questions are the same.
 */
import type { AccountId, Ask, AskQuestion, QuestionAnswer } from "../model/types";
import type { Staged, StagedAnswer, Unsent } from "./contract";

export const isOpen = (ask: Ask): boolean => ask.end.kind === "open";

const none: StagedAnswer = { chosen: [], text: "" };
const fresh: Staged = { answers: new Map(), submitted: false, error: undefined };

export const stagedFor = (staged: Staged | undefined, questionId: string): StagedAnswer => staged?.answers.get(questionId) ?? none;

/** True if a question has an answer to send: a pick, or text that is more than white space. */
export const isAnswered = (answer: StagedAnswer): boolean => answer.chosen.length > 0 || answer.text.trim() !== "";

/** True if there is an answer that was not sent. */
export const isBegun = (staged: Staged): boolean => !staged.submitted && [...staged.answers.values()].some(isAnswered);

export const answeredCount = (ask: Ask, staged: Staged | undefined): number => ask.questions.filter((question) => isAnswered(stagedFor(staged, question.id))).length;

/** True if nothing can be recorded for the question any more: its one pick is made. */
export const isLocked = (question: AskQuestion, staged: Staged | undefined): boolean => !question.multiple && stagedFor(staged, question.id).chosen.length > 0;

/** The question, if something may be recorded for it. */
const recordable = (ask: Ask, staged: Staged | undefined, questionId: string): AskQuestion | undefined =>
  isOpen(ask) && staged?.submitted !== true ? ask.questions.find((question) => question.id === questionId) : undefined;

const recorded = (staged: Staged | undefined, questionId: string, answer: StagedAnswer): Staged => {
  const answers = new Map((staged ?? fresh).answers);
  if (answer.chosen.length === 0 && answer.text === "") answers.delete(questionId);
  else answers.set(questionId, answer);
  return { answers, submitted: false, error: undefined };
};

/** The first pick of a single question wins, and clears its text; options of a multiple one toggle. Anything else changes nothing. */
export const picked = (ask: Ask, staged: Staged | undefined, questionId: string, optionId: string): Staged | undefined => {
  const question = recordable(ask, staged, questionId);
  if (!question?.options.some((option) => option.id === optionId) || isLocked(question, staged)) return staged;
  const before = stagedFor(staged, questionId);
  if (!question.multiple) return recorded(staged, questionId, { chosen: [optionId], text: "" });
  const wanted = before.chosen.includes(optionId) ? before.chosen.filter((id) => id !== optionId) : [...before.chosen, optionId];
  // In the order of the options, whatever the order of the clicks.
  const chosen = question.options.flatMap((option) => (wanted.includes(option.id) ? [option.id] : []));
  return recorded(staged, questionId, { chosen, text: before.text });
};

/** Text is refused after the pick of a single question. */
export const typed = (ask: Ask, staged: Staged | undefined, questionId: string, text: string): Staged | undefined => {
  const question = recordable(ask, staged, questionId);
  if (!question || isLocked(question, staged)) return staged;
  const before = stagedFor(staged, questionId);
  return before.text === text ? staged : recorded(staged, questionId, { ...before, text });
};

/** Takes the pick of a single question back: the one way to make another. A person may err, and an ask is answered once. */
export const cleared = (ask: Ask, staged: Staged | undefined, questionId: string): Staged | undefined => {
  const question = recordable(ask, staged, questionId);
  return question && isLocked(question, staged) ? recorded(staged, questionId, none) : staged;
};

/** Exactly one answer per question in the ask's order, skipped ones empty; undefined if there is nothing to send. */
export const payload = (ask: Ask, staged: Staged | undefined): readonly QuestionAnswer[] | undefined => {
  if (!isOpen(ask) || staged === undefined || staged.submitted || answeredCount(ask, staged) === 0) return undefined;
  return ask.questions.map((question) => {
    const { chosen, text } = stagedFor(staged, question.id);
    const withPick = !question.multiple && chosen.length > 0;
    return { questionId: question.id, chosen, customText: withPick ? "" : text.trim() };
  });
};

export const submitted = (staged: Staged): Staged => ({ ...staged, submitted: true, error: undefined });

/** True if the same things are asked: questions, their options in order, and how many may be chosen. */
export const sameQuestions = (one: Ask, other: Ask): boolean =>
  one.questions.length === other.questions.length &&
  one.questions.every((question, index) => {
    const same = other.questions[index];
    return (
      same !== undefined && same.id === question.id && same.multiple === question.multiple && same.options.length === question.options.length &&
      question.options.every((option, place) => same.options[place]?.id === option.id)
    );
  });

/**
 * What stays staged when the server shows another version of the ask; `now` undefined: the ask is gone. While a submit is
 * on its way the server's version is shown, whatever it is, and the mark of the submit stays.
 */
export const afterPush = (before: Ask | undefined, now: Ask | undefined, staged: Staged, isOnItsWay: boolean): Staged | undefined => {
  if (now === before) return staged;
  if (isOnItsWay) return staged.answers.size === 0 ? staged : { ...staged, answers: new Map() };
  if (now === undefined || !isOpen(now)) return undefined;
  // Sent and accepted: only the closed version, which is yet to come, ends that.
  if (staged.submitted) return staged;
  return before !== undefined && sameQuestions(before, now) ? staged : undefined;
};

/** What was sent: the ask as it was then, and everything that was staged. */
export interface Shipped {
  readonly ask: Ask;
  readonly staged: Staged;
}

/**
 * After a refusal: what was sent comes back if it can be sent again, and the refusal is shown unless the ask was withdrawn.
 * `text` undefined: nobody said what became of it, and it is known by now.
 */
export const afterRefusal = (shipped: Shipped, now: Ask | undefined, current: Staged | undefined, text: string | undefined): Staged => {
  const isSame = now === shipped.ask;
  const comesBack = now !== undefined && !isSame && isOpen(now) && sameQuestions(shipped.ask, now);
  const answers = comesBack ? shipped.staged.answers : isSame ? (current?.answers ?? shipped.staged.answers) : fresh.answers;
  return { answers, submitted: false, error: now?.end.kind === "cancelled" ? undefined : text };
};

/**
 * What was picked and typed for an ask that ended without taking it; undefined if there was nothing, if the ask is still
 * open, or if it is the very answer that was recorded for the person (only the reply got lost). `now` undefined: the ask is gone.
 */
export const leftBehind = (now: Ask | undefined, answers: Staged["answers"], refused: string | undefined, me: AccountId): Unsent | undefined => {
  const given = new Map([...answers].filter(([, answer]) => isAnswered(answer)));
  if (given.size === 0 || (now !== undefined && (isOpen(now) || isRecorded(now, given, me)))) return undefined;
  return { answers: given, refused };
};

/** True if these very answers of the person's are the ones that were recorded. */
export const isRecorded = (ask: Ask, answers: Staged["answers"], me: AccountId): boolean =>
  ask.end.kind === "answered" && ask.end.by === me &&
  ask.questions.every((question) => {
    const { chosen, text } = answers.get(question.id) ?? none;
    return question.customText === text.trim() && question.chosen.length === chosen.length && chosen.every((id) => question.chosen.includes(id));
  });

/** Of what a reloaded page finds stored, what fits the ask. */
export const restored = (ask: Ask, stored: ReadonlyMap<string, StagedAnswer>): Staged | undefined => {
  if (!isOpen(ask)) return undefined;
  let staged: Staged | undefined;
  for (const question of ask.questions) {
    const answer = stored.get(question.id);
    if (!answer) continue;
    for (const optionId of answer.chosen) staged = picked(ask, staged, question.id, optionId);
    staged = typed(ask, staged, question.id, answer.text);
  }
  return staged;
};
