// Counts the requests of two days, in three resolutions. There is a count of all requests, one for each of the busiest operations,
// organizations and upstreams, and one for each error code. The memory is bounded.

import type { CountedIncreases } from '../fleet/shared-histories.ts';
import { CLASSES } from './figures.ts';
import type { Kind } from './history-counts.ts';
import type { HistoryState, KeptHistory } from './kept-history.ts';
import { RESOLUTIONS } from './ranges.ts';
import { createSeries, type Ring, type SeriesRings } from './ring.ts';
import type { Increase, Increases } from './sample.ts';
import { createTrackedSeries, type TrackedSeries } from './tracked-series.ts';

/** The number of names with their own history, by kind. The others are computed as the difference from the total. */
export const TRACKED_MAX: Readonly<Record<Kind, number>> = { operations: 40, organizations: 24, upstreams: 12 };
/** This number is never reached, because the catalogue has few codes, and each belongs to a few stages. */
export const CODES_MAX = 200;

/** A cause is found within this time after its first failed request, which is in the last minute. */
const LATEST_MS = 90_000;

export const KINDS = Object.keys(TRACKED_MAX) as Kind[];

/** Returns the number of counts per slot of an operation: a bucket for each bound, one for longer durations, and the classes of status. */
export function widthOf(bounds: readonly number[]): number {
  return bounds.length + 1 + CLASSES;
}

export class History {
  readonly #now: () => number;
  /** Number of duration buckets. */
  readonly #buckets: number;
  #startedAtMs: number;
  /** The slot of the start and the current slot, for each resolution. */
  readonly #firstSlots: number[];
  readonly #newest: number[];
  readonly #all: SeriesRings;
  readonly #tracked: Readonly<Record<Kind, TrackedSeries>>;
  readonly #codes: Map<string, SeriesRings>;
  /** The latest increases, with the times at which they began and were counted. */
  #latest: readonly CountedIncreases[] = [];

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
  add(sinceMs: number, increases: Increases): void {
    const { operations, organizations, upstreams, refusals } = increases;
    const atMs = this.#now();
    this.#latest = [...this.#latest.filter((one) => atMs - one.atMs < LATEST_MS), { sinceMs, atMs, increases }];
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

  /** Returns the latest increases, oldest first, with the times between which each was counted. */
  latest(): readonly CountedIncreases[] {
    return this.#latest;
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
        this.#addRings(this.#tracked[kind].weigh(name, this.requestsIn(other.lastSlots(rings, 1))), other, rings);
    for (const [name, rings] of added.codes) {
      if (!this.#codes.has(name) && this.#codes.size < CODES_MAX) this.#codes.set(name, createSeries(1));
      this.#addRings(this.#codes.get(name), other, rings);
    }
  }

  #addRings(series: SeriesRings | undefined, other: History, added: SeriesRings): void {
    for (const [resolution, ring] of added.entries()) {
      const newest = Math.min(this.#newest[resolution] as number, other.#newest[resolution] as number);
      for (let slot = Math.max(this.oldest(resolution), other.oldest(resolution)); slot <= newest; slot += 1)
        series?.[resolution]?.add(slot, ring.at(slot));
    }
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
  oldest(resolution: number, slots: number = RESOLUTIONS[resolution]?.slots ?? 0): number {
    return Math.max(this.#firstSlots[resolution] as number, (this.#newest[resolution] as number) - slots + 1);
  }

  #addTo(series: SeriesRings | undefined, sinceMs: number, values: readonly number[]): void {
    RESOLUTIONS.forEach(({ slotMs }, resolution) => {
      const slot = Math.floor(sinceMs / slotMs);
      const within = Math.min(Math.max(slot, this.oldest(resolution)), this.#newest[resolution] as number);
      series?.[resolution]?.add(within, values);
    });
  }

  #addTracked(kind: Kind, sinceMs: number, { name, values }: Increase): void {
    this.#addTo(this.#tracked[kind].weigh(name, this.requestsIn(values)), sinceMs, values);
  }

  /** Returns the number of requests in the counts of a slot, or in a sum of such counts. */
  requestsIn(values: readonly number[]): number {
    return values.slice(0, this.#buckets).reduce((one, other) => one + other, 0);
  }

  /** Returns the sum of slots of one resolution. Slots that are no longer kept are left out. */
  sumIn(series: SeriesRings, resolution: number, first: number, last: number): number[] {
    const [from, to] = [Math.max(first, this.oldest(resolution)), Math.min(last, this.#newest[resolution] as number)];
    const ring = series[resolution] as Ring;
    const total = new Array<number>(ring.width).fill(0);
    for (let slot = from; slot <= to; slot += 1) ring.addTo(total, slot);
    return total;
  }

  /** Returns the sum of the latest slots of the finest resolution. */
  lastSlots(series: SeriesRings, slots: number): number[] {
    const newest = this.#newest[0] as number;
    return this.sumIn(series, 0, newest - slots + 1, newest);
  }
}
