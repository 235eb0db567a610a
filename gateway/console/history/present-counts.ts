// Reads the sums of a history by which causes are found, and those since a cause began.

import type { History } from './history.ts';
import { type Kind, type PresentCounts, sum } from './history-counts.ts';
import { COARSEST, RESOLUTIONS } from './ranges.ts';
import type { SeriesRings } from './ring.ts';

export const MINUTE_SLOTS = 4;

export function presentCounts(history: History, kind: Kind): PresentCounts[] {
  history.advance();
  return [...history.state()[kind]].map(([name, series]) => ({
    name,
    minute: history.lastSlots(series, MINUTE_SLOTS),
    latest: history.lastSlots(series, 2),
    hour: hourBefore(history, series),
  }));
}

/** Returns the counts of names of a kind, or of all requests, between two times, in the finest slots that reach back so far. */
export function countsBetween(
  history: History,
  fromMs: number,
  untilMs: number,
  of?: { readonly kind: Kind; readonly names: readonly string[] },
): number[] {
  const state = history.state();
  const tracked = of?.names.flatMap((name) => {
    const series = state[of.kind].get(name);
    return series === undefined ? [] : [series];
  });
  const series = tracked ?? [state.all];
  return sumBetween(history, series, fromMs, untilMs, state.all[0]?.width ?? 0);
}

/** Returns the number of refusals by these stages between two times. */
export function refusalsBetween(history: History, fromMs: number, untilMs: number, stages: readonly string[]): number {
  const codes = [...history.state().codes].filter(([name]) => stages.includes(name.slice(0, name.indexOf(' '))));
  const series = codes.map(([, one]) => one);
  return sumBetween(history, series, fromMs, untilMs, 1)[0] ?? 0;
}

function sumBetween(
  history: History,
  series: readonly SeriesRings[],
  fromMs: number,
  untilMs: number,
  width: number,
): number[] {
  const slotAt = (atMs: number, resolution: number) =>
    Math.floor(atMs / (RESOLUTIONS[resolution] as { slotMs: number }).slotMs);
  const reaching = RESOLUTIONS.findIndex((_, resolution) => slotAt(fromMs, resolution) >= history.oldest(resolution));
  const resolution = reaching < 0 ? COARSEST : reaching;
  const [first, last] = [slotAt(fromMs, resolution), slotAt(untilMs, resolution)];
  return sum([new Array(width).fill(0), ...series.map((one) => history.sumIn(one, resolution, first, last))]);
}

/** Returns the counts of the hour before the last minute, from whole minutes, or from finer slots, which exist soon after a start. */
function hourBefore(history: History, series: SeriesRings): number[] {
  const [finest, minute] = history.state().newest as readonly [number, number];
  const minutes = history.sumIn(series, 1, minute - 59, minute - 2);
  return sum([minutes, history.sumIn(series, 0, (minute - 1) * MINUTE_SLOTS, finest - MINUTE_SLOTS)]);
}
