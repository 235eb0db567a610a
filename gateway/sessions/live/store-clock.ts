// Estimates the clock of the store by the monotonic clock of this process and the difference that was found at the last reads.

import type { Awaitable } from '../../shared/awaitable.ts';
import type { Machine } from '../../shared/machine.ts';

export interface StoreClock {
  /** Returns the estimated time, in epoch milliseconds. Before the first read, it is the time of the machine. */
  nowMs(): number;
  /**
   * Reads from the store, and corrects the estimate by the time in the reply. The clock of the store showed that time at some moment
   * between the request and the reply.
   */
  reading<T extends { readonly nowMs: number }>(read: () => Awaitable<T>): Promise<T>;
}

export function createStoreClock({ now, performance }: Pick<Machine, 'now' | 'performance'>): StoreClock {
  let aheadMs = now() - performance.now();
  return {
    nowMs: () => performance.now() + aheadMs,
    async reading(read) {
      const askedAt = performance.now();
      const answer = await read();
      const leastMs = answer.nowMs - performance.now();
      // The store gives its time in whole milliseconds.
      const mostMs = answer.nowMs + 1 - askedAt;
      aheadMs = Math.min(Math.max(aheadMs, leastMs), mostMs);
      return answer;
    },
  };
}
