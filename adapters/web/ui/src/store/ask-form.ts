/** An ask as a person writes it, how that is kept, and what it becomes. Pure. */
import type { AskDraft } from "../model/types";
import { isRecord, isText, parsed } from "./kept";

export interface OptionForm {
  label: string;
  description: string;
  preview: string;
}
export interface QuestionForm {
  question: string;
  header: string;
  multiple: boolean;
  recommended: number | undefined;
  options: OptionForm[];
}
export interface AskForm {
  questions: QuestionForm[];
}

export const newOption = (): OptionForm => ({ label: "", description: "", preview: "" });
export const newQuestion = (): QuestionForm => ({ question: "", header: "", multiple: false, recommended: undefined, options: [] });
export const newAsk = (): AskForm => ({ questions: [newQuestion()] });

/** A form as it is kept; "" for one that nothing was written into. */
export const keptForm = (form: AskForm): string => {
  const text = JSON.stringify(form.questions);
  return text === JSON.stringify(newAsk().questions) ? "" : text;
};

/** The form of a draft, as far as it is one. */
export function formOf(draft: string): AskForm {
  const questions = listOf(parsed(draft)).flatMap((each) => questionOf(each) ?? []);
  return questions.length === 0 ? newAsk() : { questions };
}

function questionOf(value: unknown): QuestionForm | undefined {
  if (!isRecord(value)) return undefined;
  const options = listOf(value["options"]).flatMap((each) => (isRecord(each) ? { label: textIn(each, "label"), description: textIn(each, "description"), preview: textIn(each, "preview") } : []));
  const { multiple, recommended } = value;
  return {
    question: textIn(value, "question"), header: textIn(value, "header"), multiple: multiple === true, options,
    recommended: typeof recommended === "number" && recommended in options ? recommended : undefined,
  };
}

const textIn = (record: Readonly<Record<string, unknown>>, name: string): string => {
  const text = record[name];
  return isText(text) ? text : "";
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The form after a change, which is made to a copy: what is shown never changes under the page. */
export function edited(form: AskForm, change: (draft: AskForm) => void): AskForm {
  const draft = structuredClone(form);
  change(draft);
  return draft;
}

/** Takes an option out; what was recommended stays recommended, unless it was that one. */
export function removeOption(question: QuestionForm, index: number): void {
  question.options.splice(index, 1);
  const { recommended } = question;
  if (recommended === undefined || recommended < index) return;
  question.recommended = recommended === index ? undefined : recommended - 1;
}

/** What is posted: ids by position, texts without white space around them. Previews stay as they are. */
export function toAsk(form: AskForm): AskDraft {
  return {
    questions: form.questions.map((question, index) => ({
      id: `q${index + 1}`, question: question.question.trim(), header: question.header.trim(), multiple: question.multiple, recommended: question.recommended,
      options: question.options.map((option, place) => ({ id: String(place), label: option.label.trim(), description: option.description.trim(), preview: option.preview })),
    })),
  };
}
