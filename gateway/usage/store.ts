// The interface of usage stores. A store keeps each count three times, by hour, day and month, so that a report by day reads only the
// counts by day.

import type { Awaitable } from '../shared/awaitable.ts';
import { DAY_MS } from '../shared/durations.ts';
import type { PeriodSpan } from './periods.ts';

/** The class of a status: 1 for 1xx … 5 for 5xx. */
export type StatusClass = 1 | 2 | 3 | 4 | 5;

/** The properties by which the requests of one organization are counted. */
interface Detail {
  /** The id of the operation; empty for FOLDED. */
  readonly operation: string;
  /** The id of the key, or `issuer:subject` of a token; empty for FOLDED. */
  readonly key: string;
  readonly statusClass: StatusClass;
}

/** The detail of requests that are counted without operation and key, because an organization has too many details. */
export const FOLDED = { operation: '', key: '' } as const;

export interface Entry extends Detail {
  /** The beginning of the UTC hour. Epoch milliseconds. */
  readonly hourMs: number;
  readonly requests: number;
}

/** Counts of one organization and one UTC day, which are written in one step. */
export interface UsageBatch {
  /** Increases with each batch of a writer, so that the store recognizes a batch that it has added already. */
  readonly number: number;
  readonly organization: string;
  /** The beginning of the day. Epoch milliseconds. */
  readonly dayMs: number;
  readonly entries: readonly Entry[];
}

export interface UsageCount extends Detail {
  /** The beginning of the period. Epoch milliseconds. */
  readonly periodMs: number;
  readonly requests: number;
}

interface UsagePiece {
  /** The counts, in the order of their periods. */
  readonly counts: readonly UsageCount[];
  /** This piece and the previous pieces contain all counts of periods that begin before this moment. Epoch milliseconds. */
  readonly untilMs: number;
  /** The number of counts that the store has read for this piece. */
  readonly read: number;
}

export interface ScanOptions {
  readonly organization: string;
  readonly span: PeriodSpan;
  /** Periods that begin before this moment are left out. */
  readonly fromMs: number;
  /** Periods that begin at this moment or later are left out. */
  readonly toMs: number;
  /**
   * The number of periods that the reader expects to need. If each piece costs a read of the whole span, the first piece contains this many
   * periods.
   */
  readonly periods: number;
  readonly operation?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * A usage store. Each process is a writer with a random id. The store recognizes a batch by its writer and its number. A writer sends the
 * batches of one organization in sequence.
 */
export interface UsageStore {
  /** The maximum number of batches for one call of `add`. */
  readonly batchesMax: number;
  /**
   * Adds the counts of batches of different organizations. Skips batches that it has added already. Rejects if a batch may not have been
   * written. The caller then sends all batches again.
   */
  add(writer: string, batches: readonly UsageBatch[]): Awaitable<void>;
  /** Notes that a writer has written all that it counted before this moment, and sends none of these batches again. */
  mark(writer: string, completeUntilMs: number): Awaitable<void>;
  /** Removes the mark of a writer that no longer counts. */
  end(writer: string): Awaitable<void>;
  /** Returns the marks of all writers. */
  marks(): Awaitable<readonly number[]>;
  /** Reads the counts of a span, in pieces, in the order of the periods. */
  scan(options: ScanOptions): AsyncIterable<UsagePiece>;
  /** Removes some of the counts that are older than `keepDays`. Has no effect if the server removes them by itself. */
  purge(): Awaitable<void>;
  close(): Awaitable<void>;
}

export interface UsageStoreOptions {
  /** Read at each write. */
  keepDays(): number;
  now(): number;
  /** The maximum number of details of one organization in one span. Beyond it, requests are counted with the detail FOLDED. */
  readonly detailsMax?: number | undefined;
}

/** The default of `detailsMax`, which suffices for a day with 20 keys, 100 operations and two status classes in each hour. */
export const DETAILS_MAX = 100_000;

/** Returns the first moment whose counts are kept. Periods that ended before this moment are no longer shown, and are removed. */
export function keptFromMs(nowMs: number, keepDays: number): number {
  return nowMs - keepDays * DAY_MS;
}

/** Returns the moment at which the last count of a span may be removed. */
export function spanEndsAtMs({ endMs }: Pick<PeriodSpan, 'endMs'>, keepDays: number): number {
  return endMs + keepDays * DAY_MS;
}

/**
 * The time after which a writer's marks and batch numbers are removed, because a writer that has been silent for so long sends no batch
 * again.
 */
export const MARKS_KEPT_MS = 7 * DAY_MS;
