/** What went wrong where nobody was looking. */
import { clipped, visibleLine } from "../model/text";
import type { AccountId, Ask } from "../model/types";

const places: Readonly<Record<string, string>> = {
  stream: "Following the conversation",
  version: "Asking the server for its version",
  read: "Noting what you have read",
  storage: "Keeping your drafts in this browser",
  pins: "Keeping your pins in this browser",
};

/** One line: what was being done, and what the server or the browser said about it. */
export const problemText = (where: string, said: string): string => `${places[where] ?? where}: ${visibleLine(said)}`;

const QUESTION_LENGTH = 80;

/** A person's answer counts for nothing, because the ask closed in another way. */
export const lostAnswerText = (ask: Ask, now: Ask | undefined, handle: (id: AccountId) => string): string => {
  const question = clipped(visibleLine(ask.questions[0]?.question ?? ""), QUESTION_LENGTH);
  if (now?.end.kind === "answered") return `Your answer to “${question}” was not taken: ${visibleLine(handle(now.end.by))} answered first.`;
  if (now?.end.kind === "cancelled") return `Your answer to “${question}” was not taken: the asker withdrew the question.`;
  return `Your answer to “${question}” was not taken: somebody else answered first, or the asker withdrew the question.`;
};
