/** What outlives a page: kept as JSON in the browser's storage under names of its own, and believed only if it has the right shape. */

/** The part of `Storage` that is needed; tests bring their own. */
export type Keep = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export const parsed = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    // Nothing of ours; the next write replaces it.
    return undefined;
  }
};

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null && !Array.isArray(value);
export const isText = (value: unknown): value is string => typeof value === "string";
export const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

/** One named thing in a storage. A storage that refuses is told to `failed` and forgets. */
export class Kept {
  private isOver = false;

  constructor(private readonly keep: Keep | undefined, private readonly name: string, private readonly failed: (error: unknown) => void) {}

  read(): unknown {
    try {
      const text = this.keep?.getItem(this.name) ?? null;
      return text === null ? undefined : parsed(text);
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  /** Removes it, and keeps nothing any more. */
  forget(): void {
    this.write(undefined);
    this.isOver = true;
  }

  /** Undefined removes it. */
  write(value: Json | undefined): void {
    if (this.isOver) return;
    try {
      if (value === undefined) this.keep?.removeItem(this.name);
      else this.keep?.setItem(this.name, JSON.stringify(value));
    } catch (error) {
      this.failed(error);
    }
  }
}
