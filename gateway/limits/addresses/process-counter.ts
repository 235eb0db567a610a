// Counts failures in the memory of this process.

import type { RateLimiterMemory } from 'rate-limiter-flexible';
import type { FailureCount, FailureCounter, FailureRules, ReservedUnit } from './failure-counter.ts';
import { createMemoryLimiter } from './limiter-library.ts';

export class ProcessCounter implements FailureCounter {
  readonly #limiter: RateLimiterMemory;
  /**
   * The number of units that this process has reserved, by address block. Units that are also reserved in Redis are included, so that they
   * still count when Redis becomes unavailable.
   */
  readonly #reserved = new Map<string, number>();

  constructor(name: string, rules: () => FailureRules) {
    this.#limiter = createMemoryLimiter(name, rules);
  }

  async count(block: string, failures = 1): Promise<FailureCount> {
    const { remainingPoints } = await this.#limiter.penalty(block, failures);
    return { isUsedUp: remainingPoints === 0, leftMs: undefined };
  }

  async reserve(block: string): Promise<ReservedUnit> {
    const failures = (await this.#limiter.get(block))?.consumedPoints ?? 0;
    const hasRoom = failures + (this.#reserved.get(block) ?? 0) < this.#limiter.points;
    return {
      isUsedUp: failures >= this.#limiter.points,
      leftMs: undefined,
      giveBack: hasRoom ? this.hold(block) : undefined,
    };
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
    void this.#limiter.delete(block);
  }
}
