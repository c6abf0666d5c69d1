/**
 * Publishes changes together. The first change after a quiet time is published in the next microtask, after everything
 * that arrived with it; under load there are at least `EVERY_MS` between two publications. Fifty messages a second make
 * at most twenty of them, and a hidden tab, where timers are slow, makes one a second.
 */
import type { World } from "./run";

export const EVERY_MS = 50;

export class Batch {
  private isDue = false;
  private last = Number.NEGATIVE_INFINITY;
  private cancel: (() => void) | undefined;

  constructor(private readonly publish: () => void, private readonly world: Pick<World, "now" | "after">) {}

  /** Something changed. */
  changed(): void {
    if (this.isDue) return;
    this.isDue = true;
    // A clock that was set back must not hold anything up.
    const wait = Math.min(EVERY_MS, this.last + EVERY_MS - this.world.now());
    if (wait <= 0) queueMicrotask(() => this.flush());
    else this.cancel = this.world.after(wait, () => this.flush());
  }

  /** Publishes now what would have been published later. */
  flush(): void {
    if (!this.isDue) return;
    this.isDue = false;
    this.cancel?.();
    this.cancel = undefined;
    this.last = this.world.now();
    this.publish();
  }
}
