// Metrics of the durations of exchanges, and of the time until an upstream began to answer. The console reads them as traffic, by operation
// and upstream.

import type { Registry } from '@prometheus-io/client';
import type { Operation } from '../../exchange/operation.ts';
import type { Trail } from '../../exchange/trail.ts';
import { hasFailed } from '../../shared/failed-requests.ts';
import { METHODS } from '../../shared/http/words.ts';
import { memoize } from '../../shared/memoize.ts';
import type { MeasuredOperation, RouteSeries } from './route-series.ts';
import { createHistogram, type Series } from './series.ts';
import { createTraffic, type OperationTraffic } from './traffic.ts';

interface DurationMetrics {
  /** Records the duration of an exchange. Returns the index of its bucket. */
  countExchange(trail: Trail): number;
  /** Records the time until the upstream began to answer, if it did. */
  upstream(trail: Trail): void;
  /** Counts an exchange that the gateway refused, apart from the durations. */
  refused(trail: Trail): void;
  /** Counts answers that break the contract and that clients got, apart from the durations. */
  broken(operation: Operation, answers: number): void;
  /** Makes the series for the operations of a new configuration. @param served their routes */
  expect(operations: readonly MeasuredOperation[], served: ReadonlySet<string>): void;
  /** Returns the traffic by operation, and by upstream with the statuses of the upstream. */
  sample(): { readonly operations: readonly OperationTraffic[]; readonly upstreams: readonly OperationTraffic[] };
}

// Bounds of the buckets in seconds. OpenTelemetry recommends those from 5 ms up for http.server.request.duration (semantic conventions
// 1.44). There are three smaller bounds, because most answers take less than 5 ms.
export const DURATION_BUCKETS = [
  ...[0.0005, 0.001, 0.002],
  ...[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
];

/** One label for all methods that clients invent (OpenTelemetry, `http.request.method`). */
const OTHER_METHOD = '_OTHER';
const KNOWN_METHODS = ['CONNECT', ...METHODS];

/** From this status on (502, 503, 504), a refusal means that the service did not answer. */
const UNANSWERED_STATUS = 502;

export function createDurationMetrics(registry: Registry, routes: RouteSeries): DurationMetrics {
  const exchanges = createExchangeDurations(registry, routes);
  const upstreams = createUpstreamDurations(registry, routes);
  return {
    countExchange(trail) {
      const bucket = exchanges.observe(trail);
      const { operation, upstreamStatus } = trail;
      if (operation !== undefined && upstreamStatus === undefined && isUnanswered(trail))
        upstreams.countUnanswered(operation.upstream, bucket);
      return bucket;
    },
    upstream: upstreams.observe,
    refused: exchanges.countRefused,
    broken(operation, answers) {
      exchanges.markedOf(operation).broken += answers;
      upstreams.markedOf(operation.upstream).broken += answers;
    },
    expect(operations, served) {
      exchanges.expect(served);
      upstreams.expect(operations);
    },
    sample: () => ({ operations: exchanges.sample(), upstreams: upstreams.sample() }),
  };
}

/** Creates the durations of exchanges, by operation. */
function createExchangeDurations(registry: Registry, routes: RouteSeries) {
  const server = createHistogram(registry, {
    name: 'http_server_request_duration_seconds',
    help: 'Duration of exchanges, from arrival to the end of the answer. Without tunnels and streams, which may be open for days.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code', 'api_version'],
    buckets: DURATION_BUCKETS,
  });
  const traffic = createTraffic();
  const serverSeries = byOperation((operation, status) => {
    const { method, path, version, upstream } = operation;
    const label = routes.statusOf(operation, status);
    const series = server.series(method, routes.routeOf(operation), label, version ?? '');
    const name = `${method} ${path}`;
    traffic.belongs(name, upstream);
    if (label !== String(status)) return traffic.counted(name, status, series);
    traffic.watch(name, status, series.buckets);
    return series;
  });
  const unmatchedSeries = new Map(
    [...KNOWN_METHODS, OTHER_METHOD].map((method) => [
      method,
      memoize((status: number) => {
        const series = server.series(method, 'unmatched', String(status), '');
        traffic.watch(`${method} unmatched`, status, series.buckets);
        return series;
      }),
    ]),
  );
  const markedOf = byOperationAlone(({ method, path }) => traffic.markedOf(`${method} ${path}`));
  const markedUnmatched = memoize((method: string) => traffic.markedOf(`${method} unmatched`));
  // This series must exist from the start, because an alert of deploy/prometheus compares it.
  server.series(OTHER_METHOD, 'unmatched', '500', '');

  function seriesOf({ operation, method, status }: Trail): Series {
    if (operation !== undefined) return serverSeries.of(operation, status);
    const ofMethod = unmatchedSeries.get(method) ?? unmatchedSeries.get(OTHER_METHOD);
    return (ofMethod as (status: number) => Series)(status);
  }

  return {
    observe: (trail: Trail): number => seriesOf(trail).observe(trail.durationMs() / 1000),
    countRefused({ operation, method, status }: Trail): void {
      const known = unmatchedSeries.has(method) ? method : OTHER_METHOD;
      const marked = operation === undefined ? markedUnmatched(known) : markedOf(operation);
      marked.refused += 1;
      if (status >= 500) marked.refusedWith5xx += 1;
    },
    markedOf,
    expect(served: ReadonlySet<string>): void {
      serverSeries.forget();
      server.retain(({ http_route: route = '' }) => route === 'unmatched' || served.has(route));
    },
    sample: traffic.sample,
  };
}

/** Creates the durations until upstreams began to answer, by upstream. */
function createUpstreamDurations(registry: Registry, routes: RouteSeries) {
  const client = createHistogram(registry, {
    name: 'http_client_request_duration_seconds',
    help: 'Time until an upstream began to answer.',
    labelNames: ['upstream', 'http_request_method', 'http_response_status_code'],
    buckets: DURATION_BUCKETS,
  });
  const traffic = createTraffic();
  const clientSeries = byOperation((operation, status) => {
    const { upstream, method } = operation;
    const label = routes.statusOf(operation, status);
    const series = client.series(upstream, method, label);
    traffic.watch(upstream, status, series.buckets, `${method} ${label}`);
    return series;
  });
  /**
   * Counts exchanges that the gateway answered because the service did not. The histogram of upstreams does not contain them, because there
   * was no answer. The console shows them as failures of the upstream.
   */
  const unansweredOf = memoize((upstream: string) => {
    const buckets = new Float64Array(DURATION_BUCKETS.length + 1);
    traffic.watch(upstream, UNANSWERED_STATUS, buckets, 'unanswered');
    return buckets;
  });

  return {
    observe({ operation, upstreamStatus, upstreamMs }: Trail): void {
      if (operation !== undefined && upstreamStatus !== undefined && upstreamMs !== undefined)
        clientSeries.of(operation, upstreamStatus).observe(upstreamMs / 1000);
    },
    countUnanswered(upstream: string, bucket: number): void {
      const buckets = unansweredOf(upstream);
      buckets[bucket] = (buckets[bucket] as number) + 1;
    },
    expect(operations: readonly MeasuredOperation[]): void {
      clientSeries.forget();
      for (const upstream of new Set(operations.map((operation) => operation.upstream)))
        client.series(upstream, 'GET', '503');
    },
    markedOf: memoize(traffic.markedOf),
    sample: traffic.sample,
  };
}

function isUnanswered(trail: Trail): boolean {
  return trail.code !== undefined && trail.status >= UNANSWERED_STATUS && hasFailed(trail);
}

/** Finds the counter of an operation by identity. */
function byOperationAlone<Counted>(make: (operation: Operation) => Counted): (operation: Operation) => Counted {
  const known = new WeakMap<Operation, Counted>();
  return (operation) => {
    const found = known.get(operation);
    if (found !== undefined) return found;
    const made = make(operation);
    known.set(operation, made);
    return made;
  };
}

/** Finds the series of an operation and status by identity, with two look-ups. Entries end with the configuration of their operation. */
function byOperation(make: (operation: Operation, status: number) => Series) {
  let known = new WeakMap<Operation, (status: number) => Series>();
  return {
    of(operation: Operation, status: number): Series {
      let ofOperation = known.get(operation);
      if (ofOperation === undefined) {
        ofOperation = memoize((one) => make(operation, one));
        known.set(operation, ofOperation);
      }
      return ofOperation(status);
    },
    /** Forgets the series, which are then made again, perhaps with other labels. */
    forget(): void {
      known = new WeakMap();
    },
  };
}
