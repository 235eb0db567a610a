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
/** This number is never reached, because the catalogue has few codes, and each belongs to a few stages. */
const CODES_MAX = 200;
/** Operations in one answer. */
const TOLD_MAX = 12;
export const MINUTE_SLOTS = 4;
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
  /** Counts of the same time a day before; null if nothing was counted then. */
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
  /** Counts of the subject of the view; null if there is none, or it has no history. */
  readonly subject: SeriesCounts | null;
  /** Memory that the whole history takes, and the most that it can take. */
  readonly bytes: number;
  readonly bytesMax: number;
}

/** The latest counts of one series, in which causes are found. */
export interface PresentCounts {
  readonly name: string;
  readonly minute: readonly number[];
  /** The counts of the last 15 to 30 seconds. */
  readonly latest: readonly number[];
  /** The hour before the last minute. */
  readonly hour: readonly number[];
}

/** Counts per slot of an operation: a bucket for each bound, one for longer durations, and the classes of status. */
export function widthOf(bounds: readonly number[]): number {
  return bounds.length + 1 + CLASSES;
}

export class History {
  readonly #now: () => number;
  /** Number of duration buckets. */
  readonly #buckets: number;
  readonly #width: number;
  readonly #startedAtMs: number;
  /** By resolution: the slot of the start, and the current slot. */
  readonly #firstSlots: readonly number[];
  readonly #newest: number[];
  readonly #all: SeriesRings;
  readonly #tracked: Readonly<Record<Kind, TrackedSeries>>;
  readonly #codes: Map<string, SeriesRings>;

  /**
   * @param bounds upper bounds of the duration buckets, in seconds
   * @param now epoch milliseconds that never decrease
   * @param kept the history of the process before; the time in between has no requests
   */
  constructor(bounds: readonly number[], now: () => number, kept?: KeptHistory) {
    const width = widthOf(bounds);
    const startedAtMs = kept?.startedAtMs ?? now();
    const firstSlots = RESOLUTIONS.map(({ slotMs }) => Math.floor(startedAtMs / slotMs));
    const trackedOf = (kind: Kind) => createTrackedSeries(width, TRACKED_MAX[kind], kept?.[kind]);
    this.#now = now;
    this.#buckets = bounds.length + 1;
    this.#width = width;
    this.#startedAtMs = startedAtMs;
    this.#firstSlots = firstSlots;
    this.#newest = [...(kept?.newest ?? firstSlots)];
    this.#all = kept?.all ?? createSeries(width);
    this.#tracked = {
      operations: trackedOf('operations'),
      organizations: trackedOf('organizations'),
      upstreams: trackedOf('upstreams'),
    };
    this.#codes = new Map(kept?.codes);
  }

  /** Opens the current slots. Returns the present moment in epoch milliseconds: the begin of what the next sample adds. */
  advance(): number {
    const nowMs = this.#now();
    RESOLUTIONS.forEach(({ slotMs, slots }, resolution) => {
      const before = this.#newest[resolution] as number;
      const present = Math.floor(nowMs / slotMs);
      for (let slot = Math.max(before + 1, present - slots + 1); slot <= present; slot += 1)
        for (const series of this.#everySeries()) series[resolution]?.clear(slot);
      this.#newest[resolution] = Math.max(before, present);
      if (resolution === 0 && present > before) for (const kind of KINDS) this.#tracked[kind].reweigh();
    });
    return nowMs;
  }

  /** Adds what has increased since a moment. */
  add(sinceMs: number, { operations, organizations, upstreams, refusals }: Increases): void {
    for (const increase of operations) {
      this.#addTo(this.#all, sinceMs, increase.values);
      this.#addTracked('operations', sinceMs, increase);
    }
    for (const increase of organizations) this.#addTracked('organizations', sinceMs, increase);
    for (const increase of upstreams) this.#addTracked('upstreams', sinceMs, increase);
    const codes = this.#codes;
    for (const { name, values } of refusals) {
      if (!codes.has(name) && codes.size < CODES_MAX) codes.set(name, createSeries(1));
      this.#addTo(codes.get(name), sinceMs, values);
    }
  }

  counts(span: ShownTime, subject?: Subject): RangeCounts {
    const nowMs = this.advance();
    const wanted = slotsOf(span, nowMs);
    const { resolution, lastSlot } = wanted;
    const { slotMs } = RESOLUTIONS[resolution];
    const firstSlot = Math.max(wanted.firstSlot, Math.min(this.#oldest(resolution), lastSlot));
    const yesterday = this.#yesterdayOf(wanted);
    const untilMs = Math.min(nowMs, (lastSlot + 1) * slotMs);
    const shown = slotsFrom(firstSlot, lastSlot);
    const countsOf = (name: string, series: SeriesRings): SeriesCounts => ({
      name,
      minute: this.#lastSlots(series, MINUTE_SLOTS),
      slots: shown.map((slot) => this.#sumIn(series, resolution, slot, slot)),
      before: yesterday === undefined ? null : this.#sumIn(series, COARSEST, yesterday.first, yesterday.last),
    });
    const totalOf = (series: SeriesRings) => this.#sumIn(series, resolution, firstSlot, lastSlot);
    const seen = [...this.#codes].filter(([, series]) => (totalOf(series)[0] ?? 0) > 0);
    const ofSubject = subject && this.#ringsOf(subject);
    return {
      ...{ range: span.range, slotMs, slots: lastSlot - wanted.firstSlot + 1, firstSlot, lastSlot },
      lastSlotSeconds: this.#secondsSince(lastSlot, slotMs, untilMs),
      minuteSeconds: this.#secondsSince(this.#oldest(0, MINUTE_SLOTS), RESOLUTIONS[0].slotMs, nowMs),
      rangeSeconds: this.#secondsSince(firstSlot, slotMs, untilMs),
      beforeSeconds: yesterday?.seconds ?? 0,
      all: countsOf('all operations', this.#all),
      operations: this.#busiest(totalOf).map(({ name, series }) => countsOf(name, series)),
      codes: seen.map(([name, series]) => countsOf(name, series)),
      subject: ofSubject === undefined ? null : added(ofSubject.map((series) => countsOf(subject?.name ?? '', series))),
      ...this.#memory(),
    };
  }

  present(kind: Kind): PresentCounts[] {
    this.advance();
    return [...this.#tracked[kind].series].map(([name, series]) => ({
      name,
      minute: this.#lastSlots(series, MINUTE_SLOTS),
      latest: this.#lastSlots(series, 2),
      hour: this.#hourBefore(series),
    }));
  }

  /** Whole minutes, and after them the slots up to the last minute: a gateway that has just started can soon compare. */
  #hourBefore(series: SeriesRings): number[] {
    const minute = this.#newest[1] as number;
    const finest = this.#newest[0] as number;
    const minutes = this.#sumIn(series, 1, minute - 59, minute - 2);
    return sum([minutes, this.#sumIn(series, 0, (minute - 1) * MINUTE_SLOTS, finest - MINUTE_SLOTS)]);
  }

  /** Returns the data with which another history continues this one. */
  state(): HistoryState {
    return {
      startedAtMs: this.#startedAtMs,
      newest: this.#newest,
      all: this.#all,
      codes: this.#codes,
      operations: this.#tracked.operations.series,
      organizations: this.#tracked.organizations.series,
      upstreams: this.#tracked.upstreams.series,
    };
  }

  #everySeries(): SeriesRings[] {
    const tracked = KINDS.flatMap((kind) => [...this.#tracked[kind].series.values()]);
    return [this.#all, ...tracked, ...this.#codes.values()];
  }

  /** The first slot from which on there are counts. */
  #oldest(resolution: number, slots: number = RESOLUTIONS[resolution]?.slots ?? 0): number {
    return Math.max(this.#firstSlots[resolution] as number, (this.#newest[resolution] as number) - slots + 1);
  }

  #addTo(series: SeriesRings | undefined, sinceMs: number, values: readonly number[]): void {
    RESOLUTIONS.forEach(({ slotMs }, resolution) => {
      const slot = Math.floor(sinceMs / slotMs);
      const within = Math.min(Math.max(slot, this.#oldest(resolution)), this.#newest[resolution] as number);
      series?.[resolution]?.add(within, values);
    });
  }

  #addTracked(kind: Kind, sinceMs: number, { name, values }: Increase): void {
    this.#addTo(this.#tracked[kind].of(name, this.#requestsIn(values)), sinceMs, values);
  }

  #requestsIn(values: readonly number[]): number {
    return values.slice(0, this.#buckets).reduce((one, other) => one + other, 0);
  }

  /** The sum of slots of one resolution; those that are not kept are left out. */
  #sumIn(series: SeriesRings, resolution: number, first: number, last: number): number[] {
    const [from, to] = [Math.max(first, this.#oldest(resolution)), Math.min(last, this.#newest[resolution] as number)];
    const ring = series[resolution] as Ring;
    const total = new Array<number>(ring.width).fill(0);
    for (let slot = from; slot <= to; slot += 1) ring.addTo(total, slot);
    return total;
  }

  #lastSlots(series: SeriesRings, slots: number): number[] {
    const newest = this.#newest[0] as number;
    return this.#sumIn(series, 0, newest - slots + 1, newest);
  }

  /** Seconds from a slot, or from the start if that was later. */
  #secondsSince(slot: number, lengthMs: number, endMs: number): number {
    return Math.max(1, (endMs - Math.max(this.#startedAtMs, slot * lengthMs)) / 1000);
  }

  /** The same time a day before, in the coarsest slots; undefined if it is not counted as a whole. */
  #yesterdayOf({ resolution, firstSlot, lastSlot }: SlotSpan) {
    const { slotMs } = RESOLUTIONS[COARSEST];
    const [fromMs, toMs] = [firstSlot, lastSlot + 1].map((slot) => slot * RESOLUTIONS[resolution].slotMs);
    const first = Math.floor((fromMs as number) / slotMs) - YESTERDAY_SLOTS;
    const last = Math.max(first, Math.ceil((toMs as number) / slotMs) - 1 - YESTERDAY_SLOTS);
    return first < this.#oldest(COARSEST) ? undefined : { first, last, seconds: ((last - first + 1) * slotMs) / 1000 };
  }

  /** The operations with the most requests. */
  #busiest(totalOf: (series: SeriesRings) => readonly number[]) {
    return [...this.#tracked.operations.series]
      .map(([name, series]) => ({ name, series, requests: this.#requestsIn(totalOf(series)) }))
      .filter(({ requests }) => requests > 0)
      .sort((one, other) => other.requests - one.requests || one.name.localeCompare(other.name))
      .slice(0, TOLD_MAX);
  }

  /** The series of a subject. A code may belong to several stages. */
  #ringsOf({ kind, name }: Subject): SeriesRings[] | undefined {
    if (kind !== 'codes') {
      const series = this.#tracked[kind].series.get(name);
      return series && [series];
    }
    const found = [...this.#codes].filter(([code]) => code.endsWith(` ${name}`)).map(([, series]) => series);
    return found.length === 0 ? undefined : found;
  }

  #memory(): Pick<RangeCounts, 'bytes' | 'bytesMax'> {
    const width = this.#width;
    const bytesOf = (wide: number, codes: number) =>
      SLOTS_KEPT * Uint32Array.BYTES_PER_ELEMENT * ((wide + 1) * width + codes);
    const sumOf = (size: (kind: Kind) => number) => KINDS.reduce((total, kind) => total + size(kind), 0);
    return {
      bytes: bytesOf(
        sumOf((kind) => this.#tracked[kind].series.size),
        this.#codes.size,
      ),
      bytesMax: bytesOf(
        sumOf((kind) => TRACKED_MAX[kind]),
        CODES_MAX,
      ),
    };
  }
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
