// Computes the time of the next attempt after a failure. Pure. Times are epoch milliseconds, durations milliseconds.

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../shared/durations.ts';
import type { FailureKind } from './failure.ts';

const BACK_OFF: Readonly<Record<FailureKind, { readonly firstMs: number; readonly longestMs: number }>> = {
  server: { firstMs: 30_000, longestMs: HOUR_MS },
  // Let's Encrypt allows five failed validations of a name in an hour.
  refused: { firstMs: 3 * MINUTE_MS, longestMs: 12 * HOUR_MS },
  limited: { firstMs: HOUR_MS, longestMs: DAY_MS },
};

interface FailedAttempt {
  readonly kind: FailureKind;
  /** The number of failures in a row, including this one. */
  readonly failures: number;
  readonly retryAfterMs: number | undefined;
  readonly random: () => number;
}

/** The longest wait, even if the server asks for more. A record with a later time was written by a wrong clock. */
const LONGEST_WAIT_MS = 7 * DAY_MS;

/** Whether a time is in the future, and not beyond the longest wait. */
export function isToCome(atMs: number, nowMs: number): boolean {
  return atMs > nowMs && atMs <= nowMs + LONGEST_WAIT_MS;
}

/**
 * Returns the time until the next attempt. It doubles with each failure, has a jitter of up to a quarter, and never ends before
 * Retry-After.
 */
export function nextAttemptAfterMs({ kind, failures, retryAfterMs = 0, random }: FailedAttempt): number {
  const { firstMs, longestMs } = BACK_OFF[kind];
  const backOffMs = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs);
  return Math.min(Math.max(Math.round(backOffMs * (1 + random() / 4)), retryAfterMs), LONGEST_WAIT_MS);
}
