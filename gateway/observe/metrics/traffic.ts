// The numbers and durations of requests by operation, upstream or organization, for the console. The numbers of operations and upstreams
// are summed up from the histogram at each read, and cost a request nothing. Only if the histogram has several operations in one series, a
// request is counted once more for its operation.

import type { Series } from './series.ts';

interface Traffic {
  /**
   * Adds a series. Call it when the series is created; repeating the call is harmless.
   *
   * @param key tells series of the same name and status apart
   */
  watch(name: string, status: number, buckets: Float64Array, key?: string): void;
  /** Notes the upstream to which an operation belongs. */
  belongs(name: string, upstream: string): void;
  /** Returns a series that counts the operation alone as well, because the given series also counts other operations. */
  counted(name: string, status: number, shared: Series): Series;
  /** Returns the counts beside those by status, for the caller to keep and increment. */
  markedOf(name: string): MarkedCounts;
  sample(): OperationTraffic[];
}

interface MarkedCounts {
  /** Refusals by the gateway, and those of them with a status of 5xx. */
  refused: number;
  refusedWith5xx: number;
  /** Answers that break the contract, and that clients got. */
  broken: number;
}

export interface OperationTraffic {
  /** Method and path template, or `unmatched`; the name of an upstream, or the id of an organization. */
  readonly name: string;
  /** Upstream of an operation. */
  readonly upstream?: string;
  /** The exchanges by duration, as one count per bucket, and one for longer durations. */
  readonly buckets: readonly number[];
  /**
   * The exchanges by status: below 300, 3xx, 4xx, 5xx; then how many of them the gateway refused, how many of these had 5xx, and how many
   * broke the contract.
   */
  readonly classes: readonly number[];
}

interface OperationSeries {
  readonly series: Map<string, { readonly status: number; readonly buckets: Float64Array }>;
  readonly marked: MarkedCounts;
  upstream?: string;
}

export function createTraffic(): Traffic {
  const byName = new Map<string, OperationSeries>();

  function watchedOf(name: string): OperationSeries {
    const unmarked = { refused: 0, refusedWith5xx: 0, broken: 0 };
    const known: OperationSeries = byName.get(name) ?? { series: new Map(), marked: unmarked };
    byName.set(name, known);
    return known;
  }

  function watch(name: string, status: number, buckets: Float64Array, key = String(status)): void {
    watchedOf(name).series.set(key, { status, buckets });
  }

  return {
    watch,
    belongs(name, upstream) {
      watchedOf(name).upstream = upstream;
    },
    counted(name, status, shared) {
      const buckets = new Float64Array(shared.buckets.length);
      watch(name, status, buckets);
      return {
        buckets,
        observe(value) {
          const index = shared.observe(value);
          buckets[index] = (buckets[index] as number) + 1;
          return index;
        },
      };
    },
    markedOf: (name) => watchedOf(name).marked,
    sample: () => [...byName].map(([name, watched]) => trafficOf(name, watched)),
  };
}

/** Returns the index of the class of a status: below 300, 3xx, 4xx, 5xx. */
function classOf(status: number): number {
  return Math.min(3, Math.max(0, Math.floor(status / 100) - 2));
}

function trafficOf(name: string, { series, marked, upstream }: OperationSeries): OperationTraffic {
  const buckets: number[] = [];
  const classes = [0, 0, 0, 0, marked.refused, marked.refusedWith5xx, marked.broken];
  for (const { status, buckets: counts } of series.values()) {
    const ofClass = classOf(status);
    counts.forEach((count, index) => {
      buckets[index] = (buckets[index] ?? 0) + count;
      classes[ofClass] = (classes[ofClass] as number) + count;
    });
  }
  return { name, ...(upstream !== undefined && { upstream }), buckets, classes };
}

interface CallerTraffic {
  /**
   * Counts a request.
   *
   * @param bucket the index of the duration in the histogram
   * @param isRefused whether the gateway refused the request
   * @param isBroken whether the answer was found to break the contract, and the client got it
   */
  note(organization: string, bucket: number, status: number, isRefused: boolean, isBroken: boolean): void;
  /** Returns the counts of each organization. Then forgets organizations without recent requests, to have room for others. */
  sample(): OperationTraffic[];
}

/**
 * The largest number of organizations that are counted. Others are counted once `sample` has made room, which it does at least every 15
 * seconds.
 */
const KEPT_MAX = 120;
const REFUSED = 4;
const REFUSED_WITH_5XX = 5;
const BROKEN = 6;
const CLASSES = 7;

interface Counts {
  readonly buckets: Float64Array;
  /** Like the classes of an operation. Bodies that were not checked are not counted as broken. */
  readonly classes: Float64Array;
  isActive: boolean;
}

/**
 * Creates the traffic of active organizations. Their number is bounded here, while labels of metrics would not be. A request of a known
 * organization costs one look-up and a few additions, and allocates nothing.
 *
 * @param width number of buckets of the histogram, including the last one
 */
export function createCallerTraffic(width: number): CallerTraffic {
  const known = new Map<string, Counts>();

  return {
    note(organization, bucket, status, isRefused, isBroken) {
      let counts = known.get(organization);
      if (counts === undefined) {
        if (known.size >= KEPT_MAX) return;
        counts = { buckets: new Float64Array(width), classes: new Float64Array(CLASSES), isActive: true };
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
      if (isBroken) classes[BROKEN] = (classes[BROKEN] as number) + 1;
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
