// Reads the sums of a history by which causes are found, and those since a cause began.

import type { CountedIncreases } from '../fleet/shared-histories.ts';
import type { History } from './history.ts';
import { type Kind, type PresentCounts, sum } from './history-counts.ts';
import type { HistoryState } from './kept-history.ts';
import { COARSEST, RESOLUTIONS } from './ranges.ts';
import type { SeriesRings } from './ring.ts';
import type { Increases } from './sample.ts';

export const MINUTE_SLOTS = 4;

const RECENT_MS = 10_000;

export function presentCounts(history: History, kind: Kind): PresentCounts[] {
  const nowMs = history.advance();
  const recent = history.latest().filter(({ sinceMs }) => nowMs - sinceMs <= RECENT_MS);
  const recentOf = Map.groupBy(
    recent.flatMap(({ increases }) => increases[kind]),
    ({ name }) => name,
  );
  return [...history.state()[kind]].map(([name, series]) => ({
    name,
    minute: history.lastSlots(series, MINUTE_SLOTS),
    latest: history.lastSlots(series, 2),
    recent: recentOf.has(name) ? sum((recentOf.get(name) ?? []).map(({ values }) => values)) : undefined,
    hour: hourBefore(history, series),
  }));
}

/** Returns the latest samples of names of a kind, oldest first; those without a request are left out. */
export function latestSamples(history: History, of: Extract<CountsOf, { readonly kind: Kind }>): LatestSample[] {
  return history.latest().flatMap(({ sinceMs, atMs, increases }) => {
    const counts = valuesOf(increases, of);
    return counts.length === 0 ? [] : [{ sinceMs, atMs, counts: sum(counts) }];
  });
}

interface LatestSample {
  readonly sinceMs: number;
  readonly atMs: number;
  readonly counts: readonly number[];
}

/** All requests, those of names of a kind, or the refusals by stages. */
type CountsOf =
  | 'all'
  | { readonly kind: Kind; readonly names: readonly string[] }
  | { readonly refusedBy: readonly string[] };

/**
 * Returns the counts from the start of the coarsest slot in which a time lies to another time, in the finest slots that reach back so far,
 * without the latest samples after that time. Without the counts of `countsBefore`, they are the counts between both times.
 */
export function countsThrough(history: History, fromMs: number, untilMs: number, of: CountsOf): number[] {
  const startMs = slotAt(fromMs, COARSEST) * RESOLUTIONS[COARSEST].slotMs;
  const resolution = resolutionAt(history, startMs);
  const slots = sumOf(history, of, resolution, slotAt(startMs, resolution), slotAt(untilMs, resolution));
  const later = history
    .latest()
    .filter(({ sinceMs, atMs }) => atMs > untilMs && slotAt(sinceMs, 0) <= slotAt(untilMs, 0));
  const added = sum(later.flatMap(({ increases }) => valuesOf(increases, of)));
  return slots.map((number, index) => number - (added[index] ?? 0));
}

/** Returns the counts from the same start to the time. Soon after the time, they are exact but for the sample in which the time lies. */
export function countsBefore(history: History, fromMs: number, of: CountsOf): number[] {
  const startMs = slotAt(fromMs, COARSEST) * RESOLUTIONS[COARSEST].slotMs;
  const resolution = resolutionAt(history, fromMs);
  const slots = sumOf(history, of, resolution, slotAt(startMs, resolution), slotAt(fromMs, resolution) - 1);
  const isBefore = ({ sinceMs, atMs }: CountedIncreases) =>
    sinceMs < fromMs && atMs <= fromMs && slotAt(sinceMs, 0) === slotAt(fromMs, 0);
  const within = resolution === 0 ? history.latest().filter(isBefore) : [];
  return sum([slots, ...within.flatMap(({ increases }) => valuesOf(increases, of))]);
}

function slotAt(atMs: number, resolution: number): number {
  return Math.floor(atMs / (RESOLUTIONS[resolution] as { slotMs: number }).slotMs);
}

/** Returns the finest resolution that reaches back to a time. */
function resolutionAt(history: History, atMs: number): number {
  const reaching = RESOLUTIONS.findIndex((_, resolution) => slotAt(atMs, resolution) >= history.oldest(resolution));
  return reaching < 0 ? COARSEST : reaching;
}

function sumOf(history: History, of: CountsOf, resolution: number, first: number, last: number): number[] {
  const state = history.state();
  const width = of !== 'all' && 'refusedBy' in of ? 1 : (state.all[0]?.width ?? 0);
  const sums = seriesOf(state, of).map((series) => history.sumIn(series, resolution, first, last));
  return sum([new Array(width).fill(0), ...sums]);
}

function seriesOf(state: HistoryState, of: CountsOf): SeriesRings[] {
  if (of === 'all') return [state.all];
  const all = 'refusedBy' in of ? state.codes : state[of.kind];
  return [...all].flatMap(([name, series]) => (isCounted(name, of) ? [series] : []));
}

function valuesOf(increases: Increases, of: CountsOf): (readonly number[])[] {
  const all = of === 'all' ? increases.operations : 'refusedBy' in of ? increases.refusals : increases[of.kind];
  return all.flatMap(({ name, values }) => (of === 'all' || isCounted(name, of) ? [values] : []));
}

function isCounted(name: string, of: Exclude<CountsOf, 'all'>): boolean {
  return 'refusedBy' in of ? of.refusedBy.includes(name.slice(0, name.indexOf(' '))) : of.names.includes(name);
}

/** Returns the counts of the hour before the last minute, from whole minutes, or from finer slots, which exist soon after a start. */
function hourBefore(history: History, series: SeriesRings): number[] {
  const [finest, minute] = history.state().newest as readonly [number, number];
  const minutes = history.sumIn(series, 1, minute - 59, minute - 2);
  return sum([minutes, history.sumIn(series, 0, (minute - 1) * MINUTE_SLOTS, finest - MINUTE_SLOTS)]);
}
