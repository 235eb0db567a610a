// Requests and durations by operation or upstream, as plain numbers. They are summed from the histogram's own counts at each read, so that
// a request costs nothing more, unless the histogram counts several operations together.

import type { Series } from './series.ts';

export interface Traffic {
  /**
   * Call it when a series is created; repeating the call is harmless.
   *
   * @param key tells series of the same name and status apart
   */
  watch(name: string, status: number, buckets: Float64Array, key?: string): void;
  /** Says which upstream an operation belongs to. */
  belongs(name: string, upstream: string): void;
  /** Returns a series that counts for the operation alone, too: the given one also counts for others. */
  counted(name: string, status: number, shared: Series): Series;
  /** Counts what the gateway refused; the caller keeps it. */
  refusedOf(name: string): RefusedCounts;
  sample(): OperationTraffic[];
}

export interface RefusedCounts {
  all: number;
  /** Those of them with 5xx. */
  with5xx: number;
}

export interface OperationTraffic {
  /** Method and path template, or `unmatched`; the name of an upstream, or the id of an organization. */
  readonly name: string;
  /** Upstream of an operation. */
  readonly upstream?: string;
  /** Exchanges by duration: one count per bucket, and one for longer durations. */
  readonly buckets: readonly number[];
  /** The exchanges by status: below 300, 3xx, 4xx, 5xx; then those of them that the gateway refused, and these with 5xx. */
  readonly classes: readonly number[];
}

interface Watched {
  readonly series: Map<string, { readonly status: number; readonly buckets: Float64Array }>;
  readonly refused: RefusedCounts;
  upstream?: string;
}

export function createTraffic(): Traffic {
  const byName = new Map<string, Watched>();

  function watchedOf(name: string): Watched {
    const known: Watched = byName.get(name) ?? { series: new Map(), refused: { all: 0, with5xx: 0 } };
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
    refusedOf: (name) => watchedOf(name).refused,
    sample: () => [...byName].map(([name, watched]) => trafficOf(name, watched)),
  };
}

/** The place of a status among the classes: below 300, 3xx, 4xx, 5xx. */
export function classOf(status: number): number {
  return Math.min(3, Math.max(0, Math.floor(status / 100) - 2));
}

function trafficOf(name: string, { series, refused, upstream }: Watched): OperationTraffic {
  const buckets: number[] = [];
  const classes = [0, 0, 0, 0, refused.all, refused.with5xx];
  for (const { status, buckets: counts } of series.values()) {
    const ofClass = classOf(status);
    counts.forEach((count, index) => {
      buckets[index] = (buckets[index] ?? 0) + count;
      classes[ofClass] = (classes[ofClass] as number) + count;
    });
  }
  return { name, ...(upstream !== undefined && { upstream }), buckets, classes };
}
