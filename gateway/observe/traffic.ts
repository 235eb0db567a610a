// Requests and durations by operation, as plain numbers. They are summed from the histogram's own counts at each read, so that a request
// costs nothing more.

export interface Traffic {
  /** Call it when a series is created; repeating the call is harmless. */
  watch(name: string, status: number, buckets: Float64Array): void;
  sample(): OperationTraffic[];
}

export interface OperationTraffic {
  /** Method and path template, or `unmatched`. */
  readonly name: string;
  /** Exchanges by duration: one count per bucket, and one for longer durations. */
  readonly buckets: readonly number[];
  readonly clientErrors: number;
  readonly serverErrors: number;
}

export function createTraffic(): Traffic {
  const byName = new Map<string, Map<number, Float64Array>>();
  return {
    watch(name, status, buckets) {
      const byStatus = byName.get(name) ?? new Map<number, Float64Array>();
      byName.set(name, byStatus.set(status, buckets));
    },
    sample: () => [...byName].map(([name, byStatus]) => trafficOf(name, byStatus)),
  };
}

function trafficOf(name: string, byStatus: ReadonlyMap<number, Float64Array>): OperationTraffic {
  const buckets: number[] = [];
  let clientErrors = 0;
  let serverErrors = 0;
  for (const [status, counts] of byStatus) {
    let requests = 0;
    counts.forEach((count, index) => {
      buckets[index] = (buckets[index] ?? 0) + count;
      requests += count;
    });
    if (status >= 500) serverErrors += requests;
    else if (status >= 400) clientErrors += requests;
  }
  return { name, buckets, clientErrors, serverErrors };
}
