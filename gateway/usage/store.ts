// What every store of use implements. Counts are kept three times, by hour, day and month, so that a question reads no more than the
// periods that it is about.

import type { Awaitable } from '../shared/awaitable.ts';
import type { PeriodSpan } from './periods.ts';

/** 1 for 1xx … 5 for 5xx. */
export type StatusClass = 1 | 2 | 3 | 4 | 5;

/** The properties by which the requests of one organization are counted. */
interface Detail {
  /** The operation's id; empty: folded. */
  readonly operation: string;
  /** Id of the key, or `issuer:subject` of a token. */
  readonly key: string;
  readonly statusClass: StatusClass;
}

/** Operation and key of requests that are counted without them, because there are too many. */
export const FOLDED = { operation: '', key: '' } as const;

export interface Entry extends Detail {
  /** Beginning of the UTC hour, epoch milliseconds. */
  readonly hourMs: number;
  readonly requests: number;
}

/** Counts that are written in one step: of one organization and one UTC day. */
export interface Parcel {
  /** Increases with each parcel of a writer, so that the store adds no parcel twice. */
  readonly number: number;
  readonly organization: string;
  /** Beginning of the day, epoch milliseconds. */
  readonly dayMs: number;
  readonly entries: readonly Entry[];
}

export interface UsageCount extends Detail {
  /** Beginning of the period, epoch milliseconds. */
  readonly periodMs: number;
  readonly requests: number;
}

interface UsagePiece {
  /** In the order of their periods. */
  readonly counts: readonly UsageCount[];
  /** All counts of periods that begin before this moment have come. Epoch milliseconds. */
  readonly untilMs: number;
  /** Number of counts that were looked at. */
  readonly read: number;
}

export interface ScanOptions {
  readonly organization: string;
  readonly span: PeriodSpan;
  /** Only periods that begin from here on. */
  readonly fromMs: number;
  /** Only periods that begin before. */
  readonly toMs: number;
  /** The number of periods that are probably needed. A store that reads the whole span for each piece has this many in its first piece. */
  readonly periods: number;
  readonly operation?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * A writer is one process while it runs: what it has written is known by its id and the number of the parcel. It writes the parcels of one
 * organization one after the other.
 */
export interface UsageStore {
  /** How many parcels `add` takes at once. */
  readonly parcelsMax: number;
  /**
   * Adds the counts of parcels, each of a different organization, unless they were added already. Rejects if a parcel was not written, or
   * possibly not. Then send all parcels again.
   */
  add(writer: string, parcels: readonly Parcel[]): Awaitable<void>;
  /** Notes that everything that a writer has counted before this moment is written, so that it sends none of its parcels again. */
  mark(writer: string, completeUntilMs: number): Awaitable<void>;
  /** Removes the mark of a writer that no longer counts. */
  end(writer: string): Awaitable<void>;
  /** The marks of all writers. */
  marks(): Awaitable<readonly number[]>;
  /** The counts of a span, in pieces, in the order of their periods. */
  scan(options: ScanOptions): AsyncIterable<UsagePiece>;
  /** Removes some of what is older than the days to keep. It does nothing if the server of the store removes them itself. */
  purge(): Awaitable<void>;
  close(): Awaitable<void>;
}

export interface UsageStoreOptions {
  /** Read at each write. */
  keepDays(): number;
  now(): number;
  /** Details of one organization in one span. More are folded. */
  readonly detailsMax?: number | undefined;
}

/** Most entries of an organization in a day, with 20 keys, 100 operations and two classes of status. */
export const DETAILS_MAX = 100_000;

const DAY_MS = 86_400_000;

/** Returns the first moment whose use is kept. Periods that ended before it are not shown any more, and are removed. */
export function keptFromMs(nowMs: number, keepDays: number): number {
  return nowMs - keepDays * DAY_MS;
}

/** Returns the moment from which nothing of a span is kept. */
export function spanEndsAtMs({ endMs }: Pick<PeriodSpan, 'endMs'>, keepDays: number): number {
  return endMs + keepDays * DAY_MS;
}

/** A writer that has been silent for this time sends no parcel again. */
export const MARKS_KEPT_MS = 7 * DAY_MS;
