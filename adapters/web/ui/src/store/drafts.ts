/** Texts that were begun and not sent, by the key of where they were begun. */
import { isRecord, isText } from "./kept";
import type { Kept } from "./kept";

export class Drafts {
  private readonly texts = new Map<string, string>();

  constructor(private readonly kept: Kept) {
    const stored = kept.read();
    if (isRecord(stored)) for (const [key, text] of Object.entries(stored)) if (isText(text)) this.texts.set(key, text);
  }

  read(key: string): string {
    return this.texts.get(key) ?? "";
  }

  /** An empty text is no draft. */
  write(key: string, text: string): void {
    if (text === "") this.texts.delete(key);
    else this.texts.set(key, text);
    this.kept.write(this.texts.size === 0 ? undefined : Object.fromEntries(this.texts));
  }
}
