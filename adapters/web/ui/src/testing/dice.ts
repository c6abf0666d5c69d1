/** Chance with a seed, so that a failing trial can be played again. */
export class Dice {
  constructor(private seed: number) {}

  /** At least 0 and below `limit`. */
  below(limit: number): number {
    // Mulberry32: short, and good enough to visit corners.
    this.seed = (this.seed + 0x6d2b79f5) >>> 0;
    let mixed = this.seed;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  once(among: number): boolean {
    return this.below(among) === 0;
  }

  /** One of them; undefined if there is none. */
  pick<T>(from: readonly T[]): T | undefined {
    return from.length === 0 ? undefined : from[this.below(from.length)];
  }
}
