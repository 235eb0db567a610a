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
/**
 * The delays before a write is repeated that the store has confirmed. After a delay, Redis has the first write on disk, or a crash has lost
 * it. The last delay is longer than the lag of a replica. One of the writes is therefore older than the lag, or comes after the failover.
 */
const AGAIN_AFTER_MS = [2000, 4000] as const;

export interface Settler {
  /** Repeats `write` until it succeeds. Resolves with undefined after `forMs` (default: a day), or after `close`. */
  settle<T>(write: () => Awaitable<T>, forMs?: number): Promise<T | undefined>;
  /** Repeats a write that the store has confirmed, because the store may lose its last writes. */
  settleAgain(write: () => Awaitable<unknown>): void;
  /** Ends after the attempts in progress. */
  close(): void;
}

export function createSettler(machine: Pick<Machine, 'performance' | 'sleep' | 'setTimeout'>): Settler {
  const { performance, sleep } = machine;
  let isClosed = false;

  async function settle<T>(write: () => Awaitable<T>, forMs = FOR_MS): Promise<T | undefined> {
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
  }

  return {
    settle,
    settleAgain(write) {
      for (const afterMs of AGAIN_AFTER_MS) machine.setTimeout(() => void settle(write), afterMs).unref();
    },
    close() {
      isClosed = true;
    },
  };
}
