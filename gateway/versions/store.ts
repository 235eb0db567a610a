// Who still calls what is deprecated, counted by day: what a store of it can do.

import type { Awaitable } from '../exchange.ts';

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

export interface UseStore {
  /** Adds to what is there. Rejects when nothing, or perhaps nothing, was written. */
  add(uses: readonly Use[]): Awaitable<void>;
  /** From a day on, in no order. */
  list(sinceDay: string): Awaitable<readonly Use[]>;
  close(): Awaitable<void>;
}

/** Long enough to look back over the year that something deprecated stays at least. */
export const KEPT_DAYS = 400;

const DAY_MS = 86_400_000;

export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** The first day that is kept. */
export function firstDay(nowMs: number): string {
  return dayOf(nowMs - (KEPT_DAYS - 1) * DAY_MS);
}

/** All days between two, both included. */
export function daysBetween(first: string, last: string): string[] {
  const days: string[] = [];
  for (let atMs = Date.parse(first); atMs <= Date.parse(last); atMs += DAY_MS) days.push(dayOf(atMs));
  return days;
}
