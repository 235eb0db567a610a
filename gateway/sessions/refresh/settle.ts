// Writes to the store what must not be lost, such as the successor of a refresh token: again and again until the store has it.

import type { Awaitable } from '../../shared/awaitable.ts';
import type { Machine } from '../../shared/machine.ts';

const PAUSE_MS = { first: 50, longest: 1000 } as const;
/**
 * How long a write is repeated: longer than any outage of the store. Few writes wait at a time, because no refresh begins while the store
 * is away. A write that is given up may cost a person all sessions: if the store has also lost its last writes, another instance sends a
 * token that was already redeemed.
 */
const FOR_MS = 24 * 3_600_000;

export interface Settler {
  /** Repeats `write` until it succeeds. Resolves with undefined if it has not within `forMs`, default a day, or after `close`. */
  settle<T>(write: () => Awaitable<T>, forMs?: number): Promise<T | undefined>;
  /** Ends after the attempts in progress. */
  close(): void;
}

export function createSettler({ performance, sleep }: Pick<Machine, 'performance' | 'sleep'>): Settler {
  let isClosed = false;
  return {
    async settle(write, forMs = FOR_MS) {
      const endsAt = performance.now() + forMs;
      for (let pauseMs: number = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.longest)) {
        try {
          return await write();
        } catch {
          // The store is away.
        }
        if (isClosed || performance.now() >= endsAt) return undefined;
        await sleep(pauseMs, { ref: false });
      }
    },
    close() {
      isClosed = true;
    },
  };
}
