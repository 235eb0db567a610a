// Counts of the requests of two days, in three resolutions: in all, for the operations, organizations and upstreams with the most requests,
// and per error code. Its memory is bounded, however many of them exist.

import { CLASSES } from './figures.ts';
import { createSeries, type HistoryState, type KeptHistory, type SeriesRings } from './kept-history.ts';
import { COARSEST, RESOLUTIONS, type ShownTime, type SlotSpan, slotsOf, YESTERDAY_SLOTS } from './ranges.ts';
import type { Ring } from './ring.ts';
import type { Increase, Increases } from './sample.ts';
import { createTrackedSeries, type TrackedSeries } from './tracked-series.ts';

/** Names with a history of their own, by kind; the others are computed as the difference from the total. */
const TRACKED_MAX = { operations: 40, organizations: 24, upstreams: 12 };
/** The codes of the catalogue are few, and each belongs to a few stages: this number is never reached. */
const CODES_MAX = 200;
/** Operations in one answer. */
const TOLD_MAX = 12;
const MINUTE_SLOTS = 4;
const SLOTS_KEPT = RESOLUTIONS.reduce((sum, { slots }) => sum + slots, 0);

type Kind = keyof typeof TRACKED_MAX;
const KINDS = Object.keys(TRACKED_MAX) as Kind[];

/** What a view is about, beside all operations. */
export interface Subject {
  readonly kind: Kind | 'codes';
  readonly name: string;
}

/** Counts of one series: those of the last minute, and of each slot of the range, the oldest first. */
export interface SeriesCounts {
  readonly name: string;
  readonly minute: readonly number[];
  readonly slots: readonly (readonly number[])[];
  /** Counts of the same time a day before; null: nothing was counted then. */
  readonly before: readonly number[] | null;
}

/** What one gateway has counted in a range. Slots are numbered by the clock, so that those of several gateways can be added. */
export interface RangeCounts {
  readonly range: ShownTime['range'];
  readonly slotMs: number;
  /** Slots of the whole range, those before the first count included. */
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
  /** Of the subject of the view; null: there is none, or it has no history. */
  readonly subject: SeriesCounts | null;
  /** Memory that the whole history takes, and the most that it can take. */
  readonly bytes: number;
  readonly bytesMax: number;
}

/** The present of one series: what causes are found in. */
export interface PresentCounts {
  readonly name: string;
  readonly minute: readonly number[];
  /** The last 15 seconds at least, and 30 at most. */
  readonly latest: readonly number[];
  /** The hour before the last minutes. */
  readonly hour: readonly number[];
}

interface History {
  /** Opens the current slots. Returns the present moment in epoch milliseconds: the begin of what the next sample adds. */
  advance(): number;
  /** Adds what has increased since a moment. */
  add(sinceMs: number, increases: Increases): void;
  counts(span: ShownTime, subject?: Subject): RangeCounts;
  present(kind: Kind): PresentCounts[];
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
  const trackedOf = (kind: Kind) => createTrackedSeries(width, TRACKED_MAX[kind], kept?.[kind]);
  const tracked: Readonly<Record<Kind, TrackedSeries>> = {
    operations: trackedOf('operations'),
    organizations: trackedOf('organizations'),
    upstreams: trackedOf('upstreams'),
  };
  const codes = new Map<string, SeriesRings>(kept?.codes);
  const bytesOf = (wide: number, ofCodes: number) =>
    SLOTS_KEPT * Uint32Array.BYTES_PER_ELEMENT * ((wide + 1) * width + ofCodes);

  const everySeries = () => [all, ...KINDS.flatMap((kind) => [...tracked[kind].series.values()]), ...codes.values()];

  /** The first slot from which on there are counts. */
  function oldest(resolution: number, slots: number = RESOLUTIONS[resolution]?.slots ?? 0): number {
    return Math.max(firstSlots[resolution] as number, (newest[resolution] as number) - slots + 1);
  }

  function advance(): number {
    const nowMs = now();
    RESOLUTIONS.forEach(({ slotMs, slots }, resolution) => {
      const before = newest[resolution] as number;
      const present = Math.floor(nowMs / slotMs);
      for (let slot = Math.max(before + 1, present - slots + 1); slot <= present; slot += 1)
        for (const series of everySeries()) series[resolution]?.clear(slot);
      newest[resolution] = Math.max(before, present);
      if (resolution === 0 && present > before) for (const kind of KINDS) tracked[kind].reweigh();
    });
    return nowMs;
  }

  function addTo(series: SeriesRings | undefined, sinceMs: number, values: readonly number[]): void {
    RESOLUTIONS.forEach(({ slotMs }, resolution) => {
      const slot = Math.floor(sinceMs / slotMs);
      const within = Math.min(Math.max(slot, oldest(resolution)), newest[resolution] as number);
      series?.[resolution]?.add(within, values);
    });
  }

  function addTracked(kind: Kind, sinceMs: number, { name, values }: Increase): void {
    addTo(tracked[kind].of(name, requestsIn(values)), sinceMs, values);
  }

  function requestsIn(values: readonly number[]): number {
    return values.slice(0, bounds.length + 1).reduce((one, other) => one + other, 0);
  }

  /** The sum of slots of one resolution; those that are not kept are left out. */
  function sumIn(series: SeriesRings, resolution: number, first: number, last: number): number[] {
    const [from, to] = [Math.max(first, oldest(resolution)), Math.min(last, newest[resolution] as number)];
    const ring = series[resolution] as Ring;
    const total = new Array<number>(ring.width).fill(0);
    for (let slot = from; slot <= to; slot += 1) ring.addTo(total, slot);
    return total;
  }

  const lastSlots = (series: SeriesRings, slots: number) =>
    sumIn(series, 0, (newest[0] as number) - slots + 1, newest[0] as number);

  /** The same time a day before, in the coarsest slots; undefined: it is not counted as a whole. */
  function yesterdayOf({ resolution, firstSlot, lastSlot }: SlotSpan) {
    const { slotMs } = RESOLUTIONS[COARSEST];
    const [fromMs, toMs] = [firstSlot, lastSlot + 1].map((slot) => slot * RESOLUTIONS[resolution].slotMs);
    const first = Math.floor((fromMs as number) / slotMs) - YESTERDAY_SLOTS;
    const last = Math.max(first, Math.ceil((toMs as number) / slotMs) - 1 - YESTERDAY_SLOTS);
    return first < oldest(COARSEST) ? undefined : { first, last, seconds: ((last - first + 1) * slotMs) / 1000 };
  }

  function counts(span: ShownTime, subject?: Subject): RangeCounts {
    const nowMs = advance();
    const wanted = slotsOf(span, nowMs);
    const { resolution } = wanted;
    const { slotMs } = RESOLUTIONS[resolution];
    const firstSlot = Math.max(wanted.firstSlot, Math.min(oldest(resolution), wanted.lastSlot));
    const { lastSlot } = wanted;
    const yesterday = yesterdayOf(wanted);
    const untilMs = Math.min(nowMs, (lastSlot + 1) * slotMs);
    const secondsSince = (slot: number, lengthMs: number, endMs: number) =>
      Math.max(1, (endMs - Math.max(startedAtMs, slot * lengthMs)) / 1000);
    const shown = slotsFrom(firstSlot, lastSlot);
    const countsOf = (name: string, series: SeriesRings): SeriesCounts => ({
      name,
      minute: lastSlots(series, MINUTE_SLOTS),
      slots: shown.map((slot) => sumIn(series, resolution, slot, slot)),
      before: yesterday === undefined ? null : sumIn(series, COARSEST, yesterday.first, yesterday.last),
    });
    const totalOf = (series: SeriesRings) => sumIn(series, resolution, firstSlot, lastSlot);
    const operations = [...tracked.operations.series]
      .map(([name, series]) => ({ name, series, requests: requestsIn(totalOf(series)) }))
      .filter(({ requests }) => requests > 0)
      .sort((one, other) => other.requests - one.requests || one.name.localeCompare(other.name));
    const seen = [...codes].filter(([, series]) => (totalOf(series)[0] ?? 0) > 0);
    const ofSubject = subject && (subject.kind === 'codes' ? codesOf(subject.name) : ringsOf(subject));
    const kinds = KINDS.reduce((total, kind) => total + tracked[kind].series.size, 0);
    return {
      ...{ range: span.range, slotMs, slots: lastSlot - wanted.firstSlot + 1, firstSlot, lastSlot },
      lastSlotSeconds: secondsSince(lastSlot, slotMs, untilMs),
      minuteSeconds: secondsSince(oldest(0, MINUTE_SLOTS), RESOLUTIONS[0].slotMs, nowMs),
      rangeSeconds: secondsSince(firstSlot, slotMs, untilMs),
      beforeSeconds: yesterday?.seconds ?? 0,
      all: countsOf('all operations', all),
      operations: operations.slice(0, TOLD_MAX).map(({ name, series }) => countsOf(name, series)),
      codes: seen.map(([name, series]) => countsOf(name, series)),
      subject: ofSubject === undefined ? null : added(ofSubject.map((series) => countsOf(subject?.name ?? '', series))),
      bytes: bytesOf(kinds, codes.size),
      bytesMax: bytesOf(
        KINDS.reduce((total, kind) => total + TRACKED_MAX[kind], 0),
        CODES_MAX,
      ),
    };
  }

  function ringsOf({ kind, name }: Subject): SeriesRings[] | undefined {
    const found = kind === 'codes' ? undefined : tracked[kind].series.get(name);
    return found && [found];
  }

  /** A code may belong to several stages. */
  function codesOf(code: string): SeriesRings[] | undefined {
    const found = [...codes].filter(([name]) => name.endsWith(` ${code}`)).map(([, series]) => series);
    return found.length === 0 ? undefined : found;
  }

  return {
    advance,
    add(sinceMs, { operations, organizations, upstreams, refusals }) {
      for (const increase of operations) {
        addTo(all, sinceMs, increase.values);
        addTracked('operations', sinceMs, increase);
      }
      for (const increase of organizations) addTracked('organizations', sinceMs, increase);
      for (const increase of upstreams) addTracked('upstreams', sinceMs, increase);
      for (const { name, values } of refusals) {
        if (!codes.has(name) && codes.size < CODES_MAX) codes.set(name, createSeries(1));
        addTo(codes.get(name), sinceMs, values);
      }
    },
    counts,
    present(kind) {
      advance();
      const minute = newest[1] as number;
      return [...tracked[kind].series].map(([name, series]) => ({
        name,
        minute: lastSlots(series, MINUTE_SLOTS),
        latest: lastSlots(series, 2),
        hour: sumIn(series, 1, minute - 59, minute - 2),
      }));
    },
    state: () => ({
      ...{ startedAtMs, newest, all, codes },
      operations: tracked.operations.series,
      organizations: tracked.organizations.series,
      upstreams: tracked.upstreams.series,
    }),
  };
}

function added(counts: readonly SeriesCounts[]): SeriesCounts {
  return counts.reduce((one, other) => ({
    name: one.name,
    minute: sum([one.minute, other.minute]),
    slots: one.slots.map((values, index) => sum([values, other.slots[index] ?? []])),
    before: one.before === null || other.before === null ? null : sum([one.before, other.before]),
  }));
}

function slotsFrom(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

/** Adds lists of equal length, value by value. */
export function sum(lists: readonly ArrayLike<number>[]): number[] {
  const total: number[] = [];
  for (const list of lists)
    for (let index = 0; index < list.length; index += 1) total[index] = (total[index] ?? 0) + (list[index] as number);
  return total;
}
