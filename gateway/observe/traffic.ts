// Requests and durations by operation, as plain numbers. They are summed from the histogram's own counts at each read, so that a request
// costs nothing more, unless the histogram counts several operations together.

import type { Series } from './series.ts';

export interface Traffic {
  /** Call it when a series is created; repeating the call is harmless. */
  watch(name: string, status: number, buckets: Float64Array): void;
  /** Returns a series that counts for the operation alone, too: the given one also counts for others. */
  counted(name: string, status: number, shared: Series): Series;
  sample(): OperationTraffic[];
}

export interface OperationTraffic {
  /** Method and path template, or `unmatched`. */
  readonly name: string;
  /** Exchanges by duration: one count per bucket, and one for longer durations. */
  readonly buckets: readonly number[];
  /** The exchanges by status: below 300, 3xx, 4xx, 5xx. */
  readonly classes: readonly number[];
}

export function createTraffic(): Traffic {
  const byName = new Map<string, Map<number, Float64Array>>();

  function watch(name: string, status: number, buckets: Float64Array): void {
    const byStatus = byName.get(name) ?? new Map<number, Float64Array>();
    byName.set(name, byStatus.set(status, buckets));
  }

  return {
    watch,
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
    sample: () => [...byName].map(([name, byStatus]) => trafficOf(name, byStatus)),
  };
}

function trafficOf(name: string, byStatus: ReadonlyMap<number, Float64Array>): OperationTraffic {
  const buckets: number[] = [];
  const classes = [0, 0, 0, 0];
  for (const [status, counts] of byStatus) {
    const ofClass = Math.min(3, Math.max(0, Math.floor(status / 100) - 2));
    counts.forEach((count, index) => {
      buckets[index] = (buckets[index] ?? 0) + count;
      classes[ofClass] = (classes[ofClass] as number) + count;
    });
  }
  return { name, buckets, classes };
}
