// Requests and durations by organization, of those that are active now: their number is bounded, so they are no labels of metrics. A
// request costs one look-up and a few additions, and allocates nothing once its organization is known.

import { classOf, type OperationTraffic } from './traffic.ts';

interface CallerTraffic {
  /**
   * @param bucket the place of the duration in the histogram
   * @param isRefused whether the gateway refused it
   */
  note(organization: string, bucket: number, status: number, isRefused: boolean): void;
  /** Counts since each was last forgotten. Forgets the quiet ones, to have room for others. */
  sample(): OperationTraffic[];
}

/** More wait until a sample has made room: there is one at least every 15 seconds. */
const KEPT_MAX = 120;
const REFUSED = 4;
const REFUSED_WITH_5XX = 5;

interface Counts {
  readonly buckets: Float64Array;
  /** By status, then those that the gateway refused, and these with 5xx. */
  readonly classes: Float64Array;
  isActive: boolean;
}

/** @param width buckets of the histogram, that of the longest durations included */
export function createCallerTraffic(width: number): CallerTraffic {
  const known = new Map<string, Counts>();

  return {
    note(organization, bucket, status, isRefused) {
      let counts = known.get(organization);
      if (counts === undefined) {
        if (known.size >= KEPT_MAX) return;
        counts = { buckets: new Float64Array(width), classes: new Float64Array(REFUSED_WITH_5XX + 1), isActive: true };
        known.set(organization, counts);
      }
      const { buckets, classes } = counts;
      const ofClass = classOf(status);
      buckets[bucket] = (buckets[bucket] as number) + 1;
      classes[ofClass] = (classes[ofClass] as number) + 1;
      if (isRefused) {
        classes[REFUSED] = (classes[REFUSED] as number) + 1;
        if (status >= 500) classes[REFUSED_WITH_5XX] = (classes[REFUSED_WITH_5XX] as number) + 1;
      }
      counts.isActive = true;
    },
    sample() {
      const told = [...known].map(([name, { buckets, classes }]) => {
        return { name, buckets: [...buckets], classes: [...classes] };
      });
      const isCrowded = known.size > KEPT_MAX / 2;
      for (const [organization, counts] of known) {
        if (isCrowded && !counts.isActive) known.delete(organization);
        counts.isActive = false;
      }
      return told;
    },
  };
}
