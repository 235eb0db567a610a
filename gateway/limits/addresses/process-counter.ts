// Counts failures in the memory of this process.

import { REAL_MACHINE, type Timer } from '../../shared/machine.ts';
import type { FailureCount, FailureCounter, FailureRules, ReservedUnit } from './failure-counter.ts';

/** The failures of one address, until the window ends. */
interface FailureWindow {
  failures: number;
  readonly end: Timer;
}

export class ProcessCounter implements FailureCounter {
  #rules: FailureRules;
  readonly #windows = new Map<string, FailureWindow>();
  /**
   * The number of units that this process has reserved, by address block. Units that are also reserved in Redis are included, because they
   * must still count when Redis becomes unavailable.
   */
  readonly #reserved = new Map<string, number>();

  constructor(rules: FailureRules) {
    this.#rules = rules;
  }

  count(block: string, failures = 1): Promise<FailureCount> {
    const window = this.#windows.get(block) ?? this.#begin(block);
    window.failures += failures;
    return Promise.resolve({ isUsedUp: window.failures >= this.#rules.failures, leftMs: undefined });
  }

  reserve(block: string): Promise<ReservedUnit> {
    const failures = this.#windows.get(block)?.failures ?? 0;
    const hasRoom = failures + (this.#reserved.get(block) ?? 0) < this.#rules.failures;
    return Promise.resolve({
      isUsedUp: failures >= this.#rules.failures,
      leftMs: undefined,
      giveBack: hasRoom ? this.hold(block) : undefined,
    });
  }

  /** Counts a unit as reserved. Returns the function that gives it back, which also calls `giveBackShared`. */
  hold(block: string, giveBackShared?: () => void): () => void {
    this.#reserved.set(block, (this.#reserved.get(block) ?? 0) + 1);
    return () => {
      const left = (this.#reserved.get(block) ?? 1) - 1;
      if (left === 0) this.#reserved.delete(block);
      else this.#reserved.set(block, left);
      giveBackShared?.();
    };
  }

  forget(block: string): void {
    REAL_MACHINE.clearTimeout(this.#windows.get(block)?.end);
    this.#windows.delete(block);
  }

  useRules(rules: FailureRules): void {
    this.#rules = rules;
  }

  #begin(block: string): FailureWindow {
    const end = REAL_MACHINE.setTimeout(() => this.#windows.delete(block), this.#rules.windowSeconds * 1000).unref();
    const window = { failures: 0, end };
    this.#windows.set(block, window);
    return window;
  }
}
