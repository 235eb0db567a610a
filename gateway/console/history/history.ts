// Counts the requests of two days, in three resolutions. There is a count of all requests, one for each of the busiest operations,
// organizations and upstreams, and one for each error code. The memory is bounded.

import { CLASSES } from './figures.ts';
import {
  addCounts,
  type Kind,
  type PresentCounts,
  type RangeCounts,
  type SeriesCounts,
  type Subject,
  sum,
} from './history-counts.ts';
import type { HistoryState, KeptHistory } from './kept-history.ts';
import {
  COARSEST,
  edgesOf,
  RESOLUTIONS,
  type ShownTime,
  type SlotSpan,
  slotsOf,
  withinEdges,
  YESTERDAY_SLOTS,
} from './ranges.ts';
import { createSeries, type Ring, type SeriesRings } from './ring.ts';
import type { Increase, Increases } from './sample.ts';
import { createTrackedSeries, type TrackedSeries } from './tracked-series.ts';

/** The number of names with their own history, by kind. The others are computed as the difference from the total. */
const TRACKED_MAX: Readonly<Record<Kind, number>> = { operations: 40, organizations: 24, upstreams: 12 };
/** This number is never reached, because the catalogue has few codes, and each belongs to a few stages. */
const CODES_MAX = 200;
/** Operations in one answer. */
const OPERATIONS_MAX = 12;
export const MINUTE_SLOTS = 4;
const SLOTS_KEPT = RESOLUTIONS.reduce((sum, { slots }) => sum + slots, 0);

const KINDS = Object.keys(TRACKED_MAX) as Kind[];

/** Returns the number of counts per slot of an operation: a bucket for each bound, one for longer durations, and the classes of status. */
export function widthOf(bounds: readonly number[]): number {
  return bounds.length + 1 + CLASSES;
}

export class History {
  readonly #now: () => number;
  /** Number of duration buckets. */
  readonly #buckets: number;
  readonly #width: number;
  #startedAtMs: number;
  /** The slot of the start and the current slot, for each resolution. */
  readonly #firstSlots: number[];
  readonly #newest: number[];
  readonly #all: SeriesRings;
  readonly #tracked: Readonly<Record<Kind, TrackedSeries>>;
  readonly #codes: Map<string, SeriesRings>;

  /**
   * @param bounds upper bounds of the duration buckets, in seconds
   * @param now epoch milliseconds that never decrease
   * @param kept the history of the previous process; the time in between has no requests
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

  /** Opens the current slots. Returns the current time in epoch milliseconds, at which the next sample begins. */
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

  /** Adds the increases since a moment. */
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

  /** Adds the counts of another history. Names for which there is no room are counted among all operations alone. */
  absorb(other: History): void {
    const [own, added] = [this.state(), other.state()];
    for (const history of [this, other]) history.advance();
    this.#startedAtMs = Math.min(this.#startedAtMs, added.startedAtMs);
    RESOLUTIONS.forEach(({ slotMs }, resolution) => {
      this.#firstSlots[resolution] = Math.floor(this.#startedAtMs / slotMs);
    });
    this.#addRings(own.all, other, added.all);
    for (const kind of KINDS)
      for (const [name, rings] of added[kind])
        this.#addRings(this.#tracked[kind].weigh(name, this.#requestsIn(other.#lastSlots(rings, 1))), other, rings);
    for (const [name, rings] of added.codes) {
      if (!this.#codes.has(name) && this.#codes.size < CODES_MAX) this.#codes.set(name, createSeries(1));
      this.#addRings(this.#codes.get(name), other, rings);
    }
  }

  #addRings(series: SeriesRings | undefined, other: History, added: SeriesRings): void {
    for (const [resolution, ring] of added.entries()) {
      const newest = Math.min(this.#newest[resolution] as number, other.#newest[resolution] as number);
      for (let slot = Math.max(this.#oldest(resolution), other.#oldest(resolution)); slot <= newest; slot += 1)
        series?.[resolution]?.add(slot, ring.at(slot));
    }
  }

  counts(span: ShownTime, subject?: Subject): RangeCounts {
    const nowMs = this.advance();
    const wanted = slotsOf(span, nowMs);
    const { resolution, lastSlot } = wanted;
    const { slotMs } = RESOLUTIONS[resolution];
    const firstSlot = Math.max(wanted.firstSlot, Math.min(this.#oldest(resolution), lastSlot));
    const yesterday = this.#yesterdayOf(wanted);
    const edges = edgesOf(span, { ...wanted, firstSlot }, this.#newest);
    const untilMs = Math.min(nowMs, edges.endMs);
    const shown = slotsFrom(firstSlot, lastSlot);
    const countsOf = (name: string, series: SeriesRings): SeriesCounts => ({
      name,
      minute: this.#lastSlots(series, MINUTE_SLOTS),
      slots: shown.map((slot) => this.#sumOf(series, withinEdges(resolution, slot, edges))),
      before: yesterday === undefined ? null : this.#sumIn(series, COARSEST, yesterday.first, yesterday.last),
    });
    const totalOf = (series: SeriesRings) => this.#sumIn(series, resolution, firstSlot, lastSlot);
    const seen = [...this.#codes].filter(([, series]) => (totalOf(series)[0] ?? 0) > 0);
    const subjectRings = subject && this.#ringsOf(subject);
    return {
      range: span.range,
      slotMs,
      slots: lastSlot - wanted.firstSlot + 1,
      firstSlot,
      lastSlot,
      lastSlotSeconds: this.#secondsSince(lastSlot, slotMs, untilMs),
      minuteSeconds: this.#secondsSince(this.#oldest(0, MINUTE_SLOTS), RESOLUTIONS[0].slotMs, nowMs),
      rangeSeconds: this.#secondsSince(edges.beginMs / slotMs, slotMs, untilMs),
      beforeSeconds: yesterday?.seconds ?? 0,
      all: countsOf('all operations', this.#all),
      operations: this.#busiest(totalOf).map(({ name, series }) => countsOf(name, series)),
      codes: seen.map(([name, series]) => countsOf(name, series)),
      subject:
        subjectRings === undefined
          ? null
          : addCounts(subjectRings.map((series) => countsOf(subject?.name ?? '', series))),
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

  /** Returns the counts of names of a kind, or of all requests, between two times, in the finest slots that reach back so far. */
  countsBetween(
    fromMs: number,
    untilMs: number,
    of?: { readonly kind: Kind; readonly names: readonly string[] },
  ): number[] {
    const ofName = (kind: Kind, name: string) => {
      const series = this.#tracked[kind].series.get(name);
      return series === undefined ? [] : [series];
    };
    const series = of === undefined ? [this.#all] : of.names.flatMap((name) => ofName(of.kind, name));
    return this.#sumBetween(series, fromMs, untilMs, this.#width);
  }

  /** Returns the number of refusals by these stages between two times. */
  refusalsBetween(fromMs: number, untilMs: number, stages: readonly string[]): number {
    const codes = [...this.#codes].filter(([name]) => stages.includes(name.slice(0, name.indexOf(' '))));
    const series = codes.map(([, one]) => one);
    return this.#sumBetween(series, fromMs, untilMs, 1)[0] ?? 0;
  }

  #sumBetween(series: readonly SeriesRings[], fromMs: number, untilMs: number, width: number): number[] {
    const slotAt = (atMs: number, resolution: number) =>
      Math.floor(atMs / (RESOLUTIONS[resolution] as { slotMs: number }).slotMs);
    const reaching = RESOLUTIONS.findIndex((_, resolution) => slotAt(fromMs, resolution) >= this.#oldest(resolution));
    const resolution = reaching < 0 ? COARSEST : reaching;
    const [first, last] = [slotAt(fromMs, resolution), slotAt(untilMs, resolution)];
    return sum([new Array(width).fill(0), ...series.map((one) => this.#sumIn(one, resolution, first, last))]);
  }

  /** Returns the counts of the hour before the last minute, from whole minutes, or from finer slots, which exist soon after a start. */
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

  /** Returns the first slot with counts. */
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
    this.#addTo(this.#tracked[kind].weigh(name, this.#requestsIn(values)), sinceMs, values);
  }

  #requestsIn(values: readonly number[]): number {
    return values.slice(0, this.#buckets).reduce((one, other) => one + other, 0);
  }

  /** Returns the sum of slots of one resolution. Slots that are no longer kept are left out. */
  #sumIn(series: SeriesRings, resolution: number, first: number, last: number): number[] {
    const [from, to] = [Math.max(first, this.#oldest(resolution)), Math.min(last, this.#newest[resolution] as number)];
    const ring = series[resolution] as Ring;
    const total = new Array<number>(ring.width).fill(0);
    for (let slot = from; slot <= to; slot += 1) ring.addTo(total, slot);
    return total;
  }

  #sumOf(series: SeriesRings, { resolution, firstSlot, lastSlot }: SlotSpan): number[] {
    return this.#sumIn(series, resolution, firstSlot, lastSlot);
  }

  #lastSlots(series: SeriesRings, slots: number): number[] {
    const newest = this.#newest[0] as number;
    return this.#sumIn(series, 0, newest - slots + 1, newest);
  }

  /** Returns the seconds since a slot, or since the start if it was later. */
  #secondsSince(slot: number, lengthMs: number, endMs: number): number {
    return Math.max(1, (endMs - Math.max(this.#startedAtMs, slot * lengthMs)) / 1000);
  }

  /** Returns the span a day earlier, in the coarsest slots; undefined if only a part of it was counted. */
  #yesterdayOf({ resolution, firstSlot, lastSlot }: SlotSpan) {
    const { slotMs } = RESOLUTIONS[COARSEST];
    const [fromMs, toMs] = [firstSlot, lastSlot + 1].map((slot) => slot * RESOLUTIONS[resolution].slotMs);
    const first = Math.floor((fromMs as number) / slotMs) - YESTERDAY_SLOTS;
    const last = Math.max(first, Math.ceil((toMs as number) / slotMs) - 1 - YESTERDAY_SLOTS);
    return first < this.#oldest(COARSEST) ? undefined : { first, last, seconds: ((last - first + 1) * slotMs) / 1000 };
  }

  /** Returns the operations with the most requests. */
  #busiest(totalOf: (series: SeriesRings) => readonly number[]) {
    return [...this.#tracked.operations.series]
      .map(([name, series]) => ({ name, series, requests: this.#requestsIn(totalOf(series)) }))
      .filter(({ requests }) => requests > 0)
      .sort((one, other) => other.requests - one.requests || one.name.localeCompare(other.name))
      .slice(0, OPERATIONS_MAX);
  }

  /** Returns the series of a subject. A code may belong to several stages. */
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

function slotsFrom(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
