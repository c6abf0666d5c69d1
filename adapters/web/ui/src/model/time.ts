/** The server's time, as well as a page can know it, and how long ago something was. */

/** Guesses the server's time. Everything the server stamped is at most as new as its clock was when we saw it. */
export class ServerTime {
  private offset: number | undefined;

  /** `local` is a clock that never jumps, `fallback` the one used until the server was heard: both in ms since 1970. */
  constructor(private readonly local: () => number, private readonly fallback: () => number = () => Date.now()) {}

  /** Takes note of a stamp of the server that just arrived. An old one, as in a replay, teaches nothing and does no harm. */
  observe(at: number): void {
    if (at <= 0) return;
    const offset = at - this.local();
    if (this.offset === undefined || offset > this.offset) this.offset = offset;
  }

  /** Forgets what was learned: after a sleep the local clock may have stood still. */
  forget(): void {
    this.offset = undefined;
  }

  now(): number {
    return this.offset === undefined ? this.fallback() : this.local() + this.offset;
  }
}

export type Age = { readonly unit: "now" } | { readonly unit: "minute" | "hour" | "day"; readonly count: number };

/** How long ago `at` was; what seems to lie ahead is now. */
export const age = (at: number, now: number): Age => {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return { unit: "now" };
  if (minutes < 60) return { unit: "minute", count: minutes };
  if (minutes < 24 * 60) return { unit: "hour", count: Math.floor(minutes / 60) };
  return { unit: "day", count: Math.floor(minutes / (24 * 60)) };
};
