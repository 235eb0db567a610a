// The types of the counts in a history, for a range of time and for the last minute, and the addition of several series.

import type { ShownTime } from './ranges.ts';

/** The kinds of names that have their own history. */
export type Kind = 'operations' | 'organizations' | 'upstreams';

/** The subject of a view, if it is not all operations. */
export interface Subject {
  readonly kind: Kind | 'codes';
  readonly name: string;
}

/** The counts of one series, for the last minute, and for each slot of the range, oldest first. */
export interface SeriesCounts {
  readonly name: string;
  readonly minute: readonly number[];
  readonly slots: readonly (readonly number[])[];
  /** Counts of the same time a day before; null if nothing was counted then. */
  readonly before: readonly number[] | null;
}

/** The counts of one gateway in a range. Slots are numbered by the clock, so that the counts of several gateways can be added. */
export interface RangeCounts {
  readonly range: ShownTime['range'];
  readonly slotMs: number;
  /** The slots of the whole range, including slots before the first count. */
  readonly slots: number;
  readonly firstSlot: number;
  /** The current slot, which still increases, unless the range ends before. */
  readonly lastSlot: number;
  /** Elapsed seconds of the last slot, of the last minute, of the range and of the compared time before; shorter soon after a start. */
  readonly lastSlotSeconds: number;
  readonly minuteSeconds: number;
  readonly rangeSeconds: number;
  readonly beforeSeconds: number;
  readonly all: SeriesCounts;
  /** Those with the most requests. */
  readonly operations: readonly SeriesCounts[];
  /** Name: stage and code. One count each. */
  readonly codes: readonly SeriesCounts[];
  /** The counts of the subject of the view; null if there is no subject, or it has no history. */
  readonly subject: SeriesCounts | null;
  /** The memory that the whole history takes, and the most that it can take. */
  readonly bytes: number;
  readonly bytesMax: number;
}

/** The latest counts of one series, for the search for causes. */
export interface PresentCounts {
  readonly name: string;
  readonly minute: readonly number[];
  /** The counts of the last 15 to 30 seconds. */
  readonly latest: readonly number[];
  /** The counts of about the last ten seconds; absent without requests. */
  readonly recent?: readonly number[] | undefined;
  /** The hour before the last minute. */
  readonly hour: readonly number[];
}

/** Adds the counts of several series of one range. */
export function addCounts(counts: readonly SeriesCounts[]): SeriesCounts {
  return counts.reduce((one, other) => ({
    name: one.name,
    minute: sum([one.minute, other.minute]),
    slots: one.slots.map((values, index) => sum([values, other.slots[index] ?? []])),
    before: one.before === null || other.before === null ? null : sum([one.before, other.before]),
  }));
}

/** Adds lists of equal length, value by value. */
export function sum(lists: readonly ArrayLike<number>[]): number[] {
  const total: number[] = [];
  for (const list of lists)
    for (let index = 0; index < list.length; index += 1) total[index] = (total[index] ?? 0) + (list[index] as number);
  return total;
}
