// Writes data that must not be lost, such as the successor of a refresh token. Repeats each write until the store confirms it.

import type { Awaitable } from '../../shared/awaitable.ts';
import type { Machine } from '../../shared/machine.ts';

const PAUSE_MS = { first: 50, longest: 1000 } as const;
/**
 * How long a write is repeated, which is longer than any outage of the store. Few writes wait, because no refresh begins while the store
 * cannot be reached. If a write is given up, a person may lose all sessions, because another instance may send a token that was already
 * redeemed.
 */
const FOR_MS = 24 * 3_600_000;

export interface Settler {
  /** Repeats `write` until it succeeds. Resolves with undefined after `forMs` (default: a day), or after `close`. */
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
          // The store cannot be reached.
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
