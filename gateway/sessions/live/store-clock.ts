// The clock of the store, as this process can tell: its monotonic clock, and by how much the store was ahead of it at the last reads.

import type { Awaitable } from '../../shared/awaitable.ts';
import type { Machine } from '../../shared/machine.ts';

interface StoreClock {
  /** Epoch milliseconds. Until the first read, the clock of the machine. */
  nowMs(): number;
  /** Takes the time from a read, and returns the read. The time was true at some moment between its question and its answer. */
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
      // The store tells whole milliseconds.
      const mostMs = answer.nowMs + 1 - askedAt;
      aheadMs = Math.min(Math.max(aheadMs, leastMs), mostMs);
      return answer;
    },
  };
}
