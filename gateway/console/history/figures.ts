// Pure: summarizes counts by duration and status as the number of requests, numbers by status, and latency quantiles.

export interface Figures {
  readonly requests: number;
  /** Answered with 3xx, 4xx and 5xx; the others were answered with less. */
  readonly redirects: number;
  readonly client_errors: number;
  readonly server_errors: number;
  /** 5xx that the gateway itself did not cause, because the service failed. */
  readonly failed: number;
  /** Requests that the gateway refused before they were sent to the service. These are among the errors. */
  readonly refused: number;
  /** Answers that broke the contract and that clients got. */
  readonly broken: number;
  /** The median of the requests that were not refused; null if there was none. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
}

/** The counts after the buckets, in their order. */
const CLASS_NAMES = [
  'below300',
  'redirects',
  'clientErrors',
  'serverErrors',
  'refused',
  'refusedWith5xx',
  'broken',
] as const;
export const CLASSES = CLASS_NAMES.length;

type ClassName = (typeof CLASS_NAMES)[number];

/**
 * @param bounds upper bounds of the buckets in seconds, ascending
 * @param counts one per bucket, one for longer durations, then one per class of status
 */
export function figuresOf(bounds: readonly number[], counts: ArrayLike<number>): Figures {
  const countOf = (name: ClassName) => classIn(bounds, counts, name);
  const requests = requestsIn(bounds, counts);
  const failed = Math.max(0, countOf('serverErrors') - countOf('refusedWith5xx'));
  const refused = countOf('refused');
  return {
    requests,
    redirects: countOf('redirects'),
    client_errors: countOf('clientErrors'),
    server_errors: countOf('serverErrors'),
    failed,
    refused,
    // A broken body stands for the bodies before it that were not checked, of which some may belong to an earlier slot.
    broken: Math.min(countOf('broken'), Math.max(0, requests - refused - failed)),
    p50_ms: quantileMs(bounds, counts, 0.5),
    p99_ms: quantileMs(bounds, counts, 0.99),
  };
}

/** Returns the number of answers of services that clients got as they were, and how many of them broke the contract. */
export function answersIn({ requests, refused, failed, broken }: Figures) {
  return { requests: requests - refused - failed, broken };
}

/** Returns the number of requests that the service should have answered: all but those that the gateway refused with 4xx. */
export function demandIn({ requests, refused, server_errors: errors, failed }: Figures): number {
  return requests - refused + errors - failed;
}

function classIn(bounds: readonly number[], counts: ArrayLike<number>, name: ClassName): number {
  return counts[bounds.length + 1 + CLASS_NAMES.indexOf(name)] ?? 0;
}

function requestsIn(bounds: readonly number[], counts: ArrayLike<number>): number {
  let requests = 0;
  for (let index = 0; index <= bounds.length; index += 1) requests += counts[index] as number;
  return requests;
}

/**
 * Estimates a quantile of the requests that were not refused, like `histogram_quantile` of Prometheus, linearly within a bucket, and as the
 * last bound for longer durations.
 */
export function quantileMs(bounds: readonly number[], counts: ArrayLike<number>, part: number): number | null {
  // The gateway refuses before a service can take time, so its refusals are the fastest, and would hide how long services take.
  const refused = classIn(bounds, counts, 'refused');
  const served = requestsIn(bounds, counts) - refused;
  if (served <= 0) return null;
  const rank = refused + part * served;
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
  return longestMs(bounds);
}

/** Returns the last bound, which `quantileMs` returns for all durations above it. */
export function longestMs(bounds: readonly number[]): number {
  return (bounds.at(-1) ?? 0) * 1000;
}
