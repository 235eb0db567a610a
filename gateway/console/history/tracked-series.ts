// The series of a kind, such as operations or organizations. Only the names with the most requests have a history, so that its memory is
// bounded. The requests of the others are counted with less weight the older they are, so that a busy name replaces a quiet one.

import { createSeries, type SeriesRings } from './ring.ts';

export interface TrackedSeries {
  readonly series: ReadonlyMap<string, SeriesRings>;
  /**
   * Adds requests to the weight of a name. Returns its rings, which begin now if there is room; undefined if the name has no history.
   */
  weigh(name: string, requests: number): SeriesRings | undefined;
  /** Lets an untracked name with more requests replace the tracked name with the fewest. Call it once per slot. */
  reweigh(): void;
}

/** Applied once per slot, so that a request from a minute ago weighs a third as much as a current request. */
const WEIGHT_KEPT = 0.75;
/** A name with a smaller weight is forgotten, because thousands of organizations come and go. */
const WEIGHT_LEAST = 0.1;
/** A name replaces another only with this many times its weight, because otherwise two of equal weight would alternate. */
const WEIGHT_TO_REPLACE = 1.5;

/**
 * @param width counts per slot
 * @param most names with a history
 */
export function createTrackedSeries(
  width: number,
  most: number,
  kept?: ReadonlyMap<string, SeriesRings>,
): TrackedSeries {
  const series = new Map(kept);
  const weights = new Map<string, number>();

  return {
    series,
    weigh(name, requests) {
      weights.set(name, (weights.get(name) ?? 0) + requests);
      if (!series.has(name) && series.size < most) series.set(name, createSeries(width));
      return series.get(name);
    },
    reweigh() {
      for (const [name, weight] of weights) {
        if (weight < WEIGHT_LEAST && !series.has(name)) weights.delete(name);
        else weights.set(name, weight * WEIGHT_KEPT);
      }
      if (series.size < most) return;
      const byWeight = [...weights].sort(([, one], [, other]) => other - one);
      const heaviest = byWeight.find(([name]) => !series.has(name));
      const lightest = [...series.keys()]
        .map((name) => [name, weights.get(name) ?? 0] as const)
        .reduce((one, other) => (other[1] < one[1] ? other : one));
      if (!heaviest || heaviest[1] <= lightest[1] * WEIGHT_TO_REPLACE) return;
      series.delete(lightest[0]);
      series.set(heaviest[0], createSeries(width));
    },
  };
}
