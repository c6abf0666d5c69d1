/** What the ask block and the answer card say. */
import { counted } from "./plural";

export const askText = {
  open: "Ask",
  answered: "Answered",
  cancelled: "Withdrawn",
  /** Fixed by the product's record of what a withdrawn ask shows. */
  withdrawn: "Withdrawn by the asker — no longer taking answers.",
  sending: "Sending your answer…",
  closedAnswered: "Answered by",
  closedWithdrawn: "Withdrawn by",
  hintSingle: "Choose one, or write your own answer. There is no hurry.",
  hintMultiple: "Choose any number, add text if you like. There is no hurry.",
  hintText: "Answer in your own words. There is no hurry.",
  placeholderWithOptions: "Or answer in your own words",
  placeholderMultiple: "Anything to add?",
  placeholderText: "Your answer",
  recommended: "Recommended",
  change: "Change",
  skipped: "(skipped)",
  ownWords: "In their own words:",
  preview: (label: string) => `Preview of ${label}`,
  submit: "Send answer",
  submitPartial: (skipped: number) => `Send answer, skipping ${counted(skipped, "question", "questions")}`,
  submitTooltip: "An ask is answered once. What you send cannot be changed afterwards.",
  copyLink: "Copy link to this ask",
  keysHint: "Number keys choose an option while this ask has focus.",
  answerCard: "answered",
  tooLong: (limit: string, actual: string) => `This answer is too long: at most ${limit}, it has ${actual}.`,
  allTooLong: (limit: string, actual: string) => `These answers are too long together: at most ${limit}, they have ${actual}.`,
} as const;
