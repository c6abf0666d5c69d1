/** The server's limits on what people send, so that the page can say so first. The server checks them again. */
import { byteLength } from "./text";
import type { AskDraft, NewBlock } from "./types";

const KIB = 1024;

export const LIMITS = {
  messageBytes: 256 * KIB,
  questions: 32,
  options: 64,
  questionBytes: 8 * KIB,
  headerCharacters: 64,
  labelBytes: KIB,
  descriptionBytes: 4 * KIB,
  previewBytes: 64 * KIB,
  customTextBytes: 32 * KIB,
  answersBytes: 128 * KIB,
  nameCharacters: 120,
  handleBytes: 64,
} as const;

/** Length in code points. */
export function codePoints(text: string): number {
  return Array.from(text).length;
}

const bytes = new Intl.NumberFormat("en");

/** A number of bytes as people read it: "32 KiB", or "32,769 bytes" where it is no round number. */
export function byteText(count: number): string {
  return count >= KIB && count % KIB === 0 ? `${bytes.format(count / KIB)} KiB` : `${bytes.format(count)} bytes`;
}

/** Bytes of blocks as they are sent, which is what the limit on a message counts. */
export function encodedSize(blocks: readonly NewBlock[]): number {
  return sum(blocks.map((block) => nested(nested(block.kind === "text" ? byteLength(block.text) : askSize(block.ask)))));
}

function askSize(ask: AskDraft): number {
  return sum(
    ask.questions.map((question) => {
      const options = question.options.map((option) => nested(texts([option.id, option.label, option.description, option.preview])));
      const recommended = question.recommended === undefined ? 0 : 1 + varint(question.recommended);
      return nested(texts([question.id, question.question, question.header]) + sum(options) + (question.multiple ? 2 : 0) + recommended);
    }),
  );
}

/** Texts that are empty are left out. */
const texts = (fields: readonly string[]): number => sum(fields.map((field) => (field === "" ? 0 : nested(byteLength(field)))));
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
/** One byte of tag, the length, the bytes. */
const nested = (length: number): number => 1 + varint(length) + length;
const varint = (value: number): number => Math.max(1, Math.ceil(Math.log2(value + 1) / 7));
