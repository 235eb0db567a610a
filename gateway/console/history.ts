// Counts of the requests of the last day, in three resolutions: in all, for the operations with the most requests, and per error code. Its
// memory is bounded, however many operations exist: HISTORY_BYTES_MAX.

import { CLASSES } from './figures.ts';
import { createSeries, type HistoryState, type KeptHistory, type SeriesRings } from './kept-history.ts';
import { RANGES, type Range, RESOLUTIONS } from './ranges.ts';

import type { Ring } from './ring.ts';
import type { Increase, Increases } from './sample.ts';

/** Operations with a history of their own; the others are computed as the difference from the total. */
const TRACKED_MAX = 40;
/** The codes of the catalogue are few, and each belongs to a few stages: this number is never reached. */
const CODES_MAX = 200;
/** Operations in one answer. */
const TOLD_MAX = 12;
/** Applied once per slot: a request from a minute ago weighs a third as much as a current one. */
const WEIGHT_KEPT = 0.75;
/** An operation replaces another only with this many times its weight; otherwise two of equal weight would alternate. */
const WEIGHT_TO_REPLACE = 1.5;
const MINUTE_SLOTS = 4;
const SLOTS_KEPT = RESOLUTIONS.reduce((sum, { slots }) => sum + slots, 0);

/** Counts of one series: those of the last minute, and of each slot of the range, the oldest first. */
export interface SeriesCounts {
  readonly name: string;
  readonly minute: readonly number[];
  readonly slots: readonly (readonly number[])[];
}

/** What one gateway has counted in a range. Slots are numbered by the clock, so that those of several gateways can be added. */
export interface RangeCounts {
  readonly range: Range;
  readonly slotMs: number;
  readonly firstSlot: number;
  /** The current slot, which still increases. */
  readonly lastSlot: number;
  /** Elapsed seconds of the current slot, of the last minute and of the range; shorter soon after a start. */
  readonly lastSlotSeconds: number;
  readonly minuteSeconds: number;
  readonly rangeSeconds: number;
  readonly all: SeriesCounts;
  /** Those with the most requests. */
  readonly operations: readonly SeriesCounts[];
  /** Name: stage and code. One count each. */
  readonly codes: readonly SeriesCounts[];
  /** Memory that the whole history takes, and the most that it can take. */
  readonly bytes: number;
  readonly bytesMax: number;
}

export interface History {
  /** Opens the current slots. Returns the present moment in epoch milliseconds: the begin of what the next sample adds. */
  advance(): number;
  /** Adds what has increased since a moment. */
  add(sinceMs: number, increases: Increases): void;
  counts(range: Range): RangeCounts;
  /** What `createHistory` goes on from. */
  state(): HistoryState;
}

/** Counts per slot of an operation: a bucket for each bound, one for longer durations, and the classes of status. */
export function widthOf(bounds: readonly number[]): number {
  return bounds.length + 1 + CLASSES;
}

/**
 * @param bounds upper bounds of the duration buckets, in seconds
 * @param now epoch milliseconds that never decrease
 * @param kept the history of the process before; the time in between has no requests
 */
export function createHistory(bounds: readonly number[], now: () => number, kept?: KeptHistory): History {
  const width = widthOf(bounds);
  const startedAtMs = kept?.startedAtMs ?? now();
  const firstSlots = RESOLUTIONS.map(({ slotMs }) => Math.floor(startedAtMs / slotMs));
  const newest = [...(kept?.newest ?? firstSlots)];
  const all = kept?.all ?? createSeries(width);
  const tracked = new Map<string, SeriesRings>(kept?.operations);
  const codes = new Map<string, SeriesRings>(kept?.codes);
  const weights = new Map<string, number>();
  const bytesOf = (operations: number, ofCodes: number) =>
    SLOTS_KEPT * Uint32Array.BYTES_PER_ELEMENT * ((operations + 1) * width + ofCodes);

  function oldest(resolution: number, slots: number): number {
    return Math.max(firstSlots[resolution] as number, (newest[resolution] as number) - slots + 1);
  }

  function advance(): number {
    const nowMs = now();
    RESOLUTIONS.forEach(({ slotMs, slots }, resolution) => {
      const before = newest[resolution] as number;
      const present = Math.floor(nowMs / slotMs);
      for (let slot = Math.max(before + 1, present - slots + 1); slot <= present; slot += 1)
        for (const series of [all, ...tracked.values(), ...codes.values()]) series[resolution]?.clear(slot);
      newest[resolution] = Math.max(before, present);
      if (resolution === 0 && present > before) reweigh();
    });
    return nowMs;
  }

  /** Lets an untracked operation with more requests replace the tracked one with the fewest. */
  function reweigh(): void {
    for (const [name, weight] of weights) weights.set(name, weight * WEIGHT_KEPT);
    if (tracked.size < TRACKED_MAX) return;
    const byWeight = [...weights].sort(([, one], [, other]) => other - one);
    const heaviest = byWeight.find(([name]) => !tracked.has(name));
    const lightest = byWeight.findLast(([name]) => tracked.has(name));
    if (!heaviest || !lightest || heaviest[1] <= lightest[1] * WEIGHT_TO_REPLACE) return;
    tracked.delete(lightest[0]);
    tracked.set(heaviest[0], createSeries(width));
  }

  function addTo(series: SeriesRings | undefined, sinceMs: number, values: readonly number[]): void {
    RESOLUTIONS.forEach(({ slotMs, slots }, resolution) => {
      const slot = Math.floor(sinceMs / slotMs);
      const within = Math.min(Math.max(slot, oldest(resolution, slots)), newest[resolution] as number);
      series?.[resolution]?.add(within, values);
    });
  }

  function addOperation(sinceMs: number, { name, values }: Increase): void {
    addTo(all, sinceMs, values);
    addTo(seriesOf(tracked, name, TRACKED_MAX, width), sinceMs, values);
    weights.set(name, (weights.get(name) ?? 0) + requestsIn(values));
  }

  function requestsIn(values: readonly number[]): number {
    return values.slice(0, bounds.length + 1).reduce((one, other) => one + other, 0);
  }

  function countsOf(name: string, series: SeriesRings, resolution: number, slots: number): SeriesCounts {
    const ring = series[resolution] as Ring;
    const fine = series[0] as Ring;
    const last = newest[resolution] as number;
    return {
      name,
      minute: sum(slotsFrom(oldest(0, MINUTE_SLOTS), newest[0] as number).map((slot) => fine.at(slot))),
      slots: slotsFrom(oldest(resolution, slots), last).map((slot) => [...ring.at(slot)]),
    };
  }

  function counts(range: Range): RangeCounts {
    const nowMs = advance();
    const { resolution, slots } = RANGES[range];
    const { slotMs } = RESOLUTIONS[resolution];
    const secondsSince = (slot: number, lengthMs: number) =>
      Math.max(1, (nowMs - Math.max(startedAtMs, slot * lengthMs)) / 1000);
    const firstSlot = oldest(resolution, slots);
    const lastSlot = newest[resolution] as number;
    const shown = slotsFrom(firstSlot, lastSlot);
    const totalOf = (series: SeriesRings) => sum(shown.map((slot) => (series[resolution] as Ring).at(slot)));
    const operations = [...tracked]
      .map(([name, series]) => ({ name, series, requests: requestsIn(totalOf(series)) }))
      .filter(({ requests }) => requests > 0)
      .sort((one, other) => other.requests - one.requests || one.name.localeCompare(other.name));
    const seen = [...codes].filter(([, series]) => (totalOf(series)[0] ?? 0) > 0);
    return {
      ...{ range, slotMs, firstSlot, lastSlot },
      lastSlotSeconds: secondsSince(lastSlot, slotMs),
      minuteSeconds: secondsSince(oldest(0, MINUTE_SLOTS), RESOLUTIONS[0].slotMs),
      rangeSeconds: secondsSince(firstSlot, slotMs),
      all: countsOf('all operations', all, resolution, slots),
      operations: operations.slice(0, TOLD_MAX).map(({ name, series }) => countsOf(name, series, resolution, slots)),
      codes: seen.map(([name, series]) => countsOf(name, series, resolution, slots)),
      bytes: bytesOf(tracked.size, codes.size),
      bytesMax: bytesOf(TRACKED_MAX, CODES_MAX),
    };
  }

  return {
    advance,
    add(sinceMs, { operations, refusals }) {
      for (const increase of operations) addOperation(sinceMs, increase);
      for (const { name, values } of refusals) addTo(seriesOf(codes, name, CODES_MAX, 1), sinceMs, values);
    },
    counts,
    state: () => ({ startedAtMs, newest, all, operations: tracked, codes }),
  };
}

function seriesOf(known: Map<string, SeriesRings>, name: string, most: number, width: number): SeriesRings | undefined {
  if (!known.has(name) && known.size < most) known.set(name, createSeries(width));
  return known.get(name);
}

function slotsFrom(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Adds lists of equal length, value by value. */
export function sum(lists: readonly ArrayLike<number>[]): number[] {
  const total: number[] = [];
  for (const list of lists)
    for (let index = 0; index < list.length; index += 1) total[index] = (total[index] ?? 0) + (list[index] as number);
  return total;
}
