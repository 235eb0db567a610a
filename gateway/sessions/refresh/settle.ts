// Writes to the store what must not be lost, such as the successor of a refresh token: again and again until the store has it.

import type { Awaitable } from '../../shared/awaitable.ts';
import type { Machine } from '../../shared/machine.ts';

const PAUSE_MS = { first: 50, longest: 1000 } as const;
/**
 * Longer than a store is away. Few writes wait meanwhile, because no refresh begins without the store. One that is given up may cost all
 * sessions of a person: if the store has lost its last writes as well, another instance sends a token that was redeemed.
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
