/** The server's limits on what people send, so that the page can say so first. The server checks them again. */

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
  topicCharacters: 120,
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
