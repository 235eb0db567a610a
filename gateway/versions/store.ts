// The types of the store of deprecated calls. Calls of deprecated operations are counted by organization and day.

import type { Awaitable } from '../shared/awaitable.ts';
import { DAY_MS } from '../shared/durations.ts';

export interface Use {
  /** UTC, `2027-01-15`. */
  readonly day: string;
  readonly organization: string;
  /** The operation's id. */
  readonly operation: string;
  readonly calls: number;
  /** Epoch milliseconds. */
  readonly lastAtMs: number;
}

export interface UsesOf {
  readonly organization: string;
  readonly operations: readonly string[];
}

export interface UseStore {
  /** Adds to the stored counts. Rejects if nothing, or possibly nothing, was written. */
  add(uses: readonly Use[]): Awaitable<void>;
  /**
   * Returns the uses since a day, in no order.
   *
   * @param of leaves out other organizations and operations
   */
  list(sinceDay: string, of?: UsesOf): Awaitable<readonly Use[]>;
  close(): Awaitable<void>;
}

/** The days for which counts are kept. They cover the year for which a deprecated operation at least stays available. */
export const KEPT_DAYS = 400;

export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Returns the first day that is stored. */
export function firstDay(nowMs: number): string {
  return dayOf(nowMs - (KEPT_DAYS - 1) * DAY_MS);
}

/** All days from the first to the last, both included. */
export function daysBetween(first: string, last: string): string[] {
  const days: string[] = [];
  for (let atMs = Date.parse(first); atMs <= Date.parse(last); atMs += DAY_MS) days.push(dayOf(atMs));
  return days;
}
