/** Reads a stream ahead of whoever applies it, so that what arrived together can be applied together. */
import { Failure } from "../model/client";

/** Frames that may wait, at the most: the server retains no more for anybody who falls behind. */
export const WAITING_FRAMES = 20_000;

export class Pump<T> {
  private readonly waiting: T[] = [];
  private next = 0;
  private over: { readonly error: Error | undefined } | undefined;
  private wake: (() => void) | undefined;

  /** `open` begins the stream; the signal ends it, and the pump with it. */
  constructor(open: () => AsyncIterable<T>, signal: AbortSignal) {
    signal.addEventListener("abort", () => this.end(undefined), { once: true });
    this.read(open).then(() => this.end(undefined), (error: unknown) => this.end(error));
  }

  /** What has arrived, without waiting. */
  take(): T | undefined {
    const item = this.waiting[this.next];
    if (item === undefined) return undefined;
    this.next += 1;
    if (this.next === this.waiting.length) {
      this.waiting.length = 0;
      this.next = 0;
    }
    return item;
  }

  /** Everything that has arrived and was not taken. */
  ahead(): readonly T[] {
    return this.waiting.slice(this.next);
  }

  /** The next one; undefined at the end. Rejects with what ended the stream, after everything that came before it. */
  async wait(): Promise<T | undefined> {
    for (;;) {
      const item = this.take();
      if (item !== undefined) return item;
      if (this.over) {
        if (this.over.error) throw this.over.error;
        return undefined;
      }
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Ends it with an error from outside. */
  fail(error: unknown): void {
    this.end(error);
  }

  private async read(open: () => AsyncIterable<T>): Promise<void> {
    for await (const item of open()) {
      if (this.over) return;
      this.waiting.push(item);
      if (this.waiting.length - this.next > WAITING_FRAMES) throw new Failure("unavailable", "more arrives than can be shown");
      this.wake?.();
    }
  }

  private end(error: unknown): void {
    this.over ??= { error: error === undefined || error instanceof Error ? error : new Failure("internal", "the stream ended in a way that cannot be told") };
    this.wake?.();
  }
}
