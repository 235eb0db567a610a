// Pure: summarizes counts by duration and status: number of requests, numbers by status, and latency quantiles.

export interface Figures {
  readonly requests: number;
  /** Answered with 3xx, 4xx and 5xx; the others were answered with less. */
  readonly redirects: number;
  readonly client_errors: number;
  readonly server_errors: number;
  /** 5xx that the gateway did not give itself: the service failed. */
  readonly failed: number;
  /** Refused by the gateway before the service had them; they are among the errors. */
  readonly refused: number;
  /** The median; null if there was no request. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
}

/** Number of counts after the buckets: below 300, 3xx, 4xx, 5xx, refusals by the gateway, and refusals with 5xx. */
export const CLASSES = 6;

/**
 * @param bounds upper bounds of the buckets in seconds, ascending
 * @param counts one per bucket, one for longer durations, then one per class of status
 */
export function figuresOf(bounds: readonly number[], counts: ArrayLike<number>): Figures {
  let requests = 0;
  for (let index = 0; index <= bounds.length; index += 1) requests += counts[index] as number;
  const serverErrors = counts[bounds.length + 4] as number;
  return {
    requests,
    redirects: counts[bounds.length + 2] as number,
    client_errors: counts[bounds.length + 3] as number,
    server_errors: serverErrors,
    failed: Math.max(0, serverErrors - (counts[bounds.length + 6] as number)),
    refused: counts[bounds.length + 5] as number,
    p50_ms: quantileMs(bounds, counts, 0.5),
    p99_ms: quantileMs(bounds, counts, 0.99),
  };
}

/** Estimates a quantile like `histogram_quantile` of Prometheus: linearly within a bucket, and as the last bound for longer durations. */
export function quantileMs(bounds: readonly number[], counts: ArrayLike<number>, part: number): number | null {
  let requests = 0;
  for (let index = 0; index <= bounds.length; index += 1) requests += counts[index] as number;
  if (requests === 0) return null;
  const rank = part * requests;
  let below = 0;
  for (let index = 0; index < bounds.length; index += 1) {
    const count = counts[index] as number;
    if (count > 0 && below + count >= rank) {
      const from = bounds[index - 1] ?? 0;
      const seconds = from + ((bounds[index] as number) - from) * ((rank - below) / count);
      return Math.round(seconds * 100_000) / 100;
    }
    below += count;
  }
  return (bounds.at(-1) ?? 0) * 1000;
}
