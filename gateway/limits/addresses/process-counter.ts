// Counts failures in the memory of this process.

import { REAL_MACHINE } from '../../shared/machine.ts';
import type { FailureCount, FailureCounter, FailureRules, ReservedUnit } from './failure-counter.ts';

interface FailureWindow {
  failures: number;
  /** By `performance.now()`. */
  readonly endsAt: number;
}

export class ProcessCounter implements FailureCounter {
  readonly #rules: () => FailureRules;
  /** The windows by address block, in the order in which they began. */
  readonly #windows = new Map<string, FailureWindow>();
  /**
   * The number of units that this process has reserved, by address block. Units that are also reserved in Redis are included, so that they
   * still count when Redis becomes unavailable.
   */
  readonly #reserved = new Map<string, number>();

  constructor(rules: () => FailureRules) {
    this.#rules = rules;
  }

  async count(block: string, failures = 1): Promise<FailureCount> {
    const rules = this.#rules();
    let window = this.#windowOf(block);
    if (window === undefined) {
      window = { failures: 0, endsAt: REAL_MACHINE.performance.now() + rules.windowSeconds * 1000 };
      this.#windows.set(block, window);
    }
    window.failures += failures;
    return { isUsedUp: window.failures >= rules.failures, leftMs: undefined };
  }

  async reserve(block: string): Promise<ReservedUnit> {
    const failures = this.#windowOf(block)?.failures ?? 0;
    const limit = this.#rules().failures;
    const hasRoom = failures + (this.#reserved.get(block) ?? 0) < limit;
    return { isUsedUp: failures >= limit, leftMs: undefined, giveBack: hasRoom ? this.hold(block) : undefined };
  }

  /** Forgets the oldest windows that have ended. Returns the window of the block; undefined if there is none that has not ended. */
  #windowOf(block: string): FailureWindow | undefined {
    const now = REAL_MACHINE.performance.now();
    for (const [other, { endsAt }] of this.#windows) {
      if (endsAt > now) break;
      this.#windows.delete(other);
    }
    const window = this.#windows.get(block);
    if (window !== undefined && window.endsAt > now) return window;
    this.#windows.delete(block);
    return undefined;
  }

  /** Counts a unit as reserved. Returns the function that gives it back. */
  hold(block: string): () => void {
    this.#reserved.set(block, (this.#reserved.get(block) ?? 0) + 1);
    return () => {
      const left = (this.#reserved.get(block) ?? 1) - 1;
      if (left === 0) this.#reserved.delete(block);
      else this.#reserved.set(block, left);
    };
  }

  forget(block: string): void {
    this.#windows.delete(block);
  }
}
