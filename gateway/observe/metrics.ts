// Counters and histograms, filled from the trail. Labels come from contracts and the catalogue, never from a client.

import { Counter, Gauge, Registry } from '@prometheus-io/client';
import { REFUSALS } from '../error-catalogue.ts';
import { type Operation, type RareNotes, STAGES } from '../exchange.ts';
import type { Trail } from '../trail.ts';
import type { MetricSnapshot } from './aggregate.ts';
import { type ConnectionMetrics, createConnectionMetrics } from './connection-metrics.ts';
import { type Count, createCounter } from './counter.ts';
import { type GaugeSources, registerGauges } from './gauges.ts';
import { createHistogram, type Series } from './histogram.ts';
import { createLimitMetrics, type OnPressure } from './limit-metrics.ts';
import { createLinesDropped } from './lines-dropped.ts';
import { memoize } from './memoize.ts';
import { createOverloadMetrics, type OverloadMetrics } from './overload-metrics.ts';
import { registerProcessMetrics } from './process-metrics.ts';
import { createRouteSeries, type Measured } from './route-series.ts';
import { createTargetMetrics, type TargetMetrics } from './target-metrics.ts';
import { createTraffic, type OperationTraffic } from './traffic.ts';
import { createUpstreamMetrics } from './upstream-metrics.ts';

export interface Metrics extends ConnectionMetrics {
  exchange(trail: Trail): void;
  /** A reload of the configuration was applied, or refused because of mistakes. */
  reload(outcome: 'applied' | 'refused'): void;
  /** Records one command to the store of the limits, in milliseconds from its first request to the verdict. */
  readonly limitBatch: (durationMs: number) => void;
  readonly targets: TargetMetrics;
  readonly overload: OverloadMetrics;
  /** An error was thrown outside a request; the process continued. */
  fault(): void;
  /** A connection to Redis was dropped for its replies. */
  redisConnectionDropped(): void;
  /** Standard output did not accept these lines in time. */
  logLinesDropped(lines: number): void;
  /** Spans were exported or dropped. */
  spans(outcome: 'exported' | 'dropped', count: number): void;
  /**
   * Call it with the operations of each configuration before they are served. Series that an alert compares begin at 0, because an alert on
   * `increase()` misses the event that creates its series. With more operations than `operationsMax`, metrics are kept by entry.
   */
  expect(operations: readonly Measured[], operationsMax: number): void;
  /** Call it once, when all parts with gauges are open. */
  watch(sources: GaugeSources): void;
  readonly contentType: string;
  text(): Promise<string>;
  /** The metrics as data, to be combined with those of other workers. */
  snapshot(): Promise<MetricSnapshot[]>;
  /** A small part of the metrics, for the console, which reads it every few seconds. */
  sample(): Promise<MetricsSample>;
}

export interface MetricsSample {
  readonly operations: readonly OperationTraffic[];
  readonly refusals: readonly { readonly stage: string; readonly code: string; readonly count: number }[];
}

export interface MetricsOptions {
  /** Holds the metrics; default: a new one. The documentation lists the metrics of its own. */
  readonly registry?: Registry;
  readonly version: string;
  readonly onPressure: OnPressure;
}

// Buckets in seconds: those that OpenTelemetry advises for http.server.request.duration (semantic conventions 1.44), and three below, because
// most answers take less than its first bound of 5 ms.
export const DURATION_BUCKETS = [
  ...[0.0005, 0.001, 0.002],
  ...[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
];

/** One label for all methods that clients invent (OpenTelemetry, `http.request.method`). */
const OTHER_METHOD = '_OTHER';
const knownMethods = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'];

/** Codes of keys whose owner is known: `authorize` refuses them, so that the log names the organization. */
const OWNER_KNOWN: ReadonlySet<string> = new Set(['api_key_expired', 'api_key_revoked']);
/** Codes of invalid credentials. */
const CREDENTIAL_CODES = Object.entries(REFUSALS).flatMap(([code, { status }]) => (status === 401 ? [code] : []));

export function createMetrics(options: MetricsOptions): Metrics {
  const { registry = new Registry() } = options;
  registerProcessMetrics(registry);
  const server = createHistogram(registry, {
    name: 'http_server_request_duration_seconds',
    help: 'Duration of exchanges, from arrival to the end of the answer. Without tunnels and streams, which may be open for days.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code', 'api_version'],
    buckets: DURATION_BUCKETS,
  });
  const client = createHistogram(registry, {
    name: 'http_client_request_duration_seconds',
    help: 'Time until an upstream began to answer.',
    labelNames: ['upstream', 'http_request_method', 'http_response_status_code'],
    buckets: DURATION_BUCKETS,
  });
  const traffic = createTraffic();
  const routes = createRouteSeries();
  const serverSeries = byOperation((operation, status) => {
    const { method, path, version } = operation;
    const label = routes.statusOf(operation, status);
    const series = server.series(method, routes.routeOf(operation), label, version ?? '');
    const name = `${method} ${path}`;
    if (label !== String(status)) return traffic.counted(name, status, series);
    traffic.watch(name, status, series.buckets);
    return series;
  });
  const unmatchedSeries = new Map(
    [...knownMethods, OTHER_METHOD].map((method) => [
      method,
      memoize((status: number) => {
        const series = server.series(method, 'unmatched', String(status), '');
        traffic.watch(`${method} unmatched`, status, series.buckets);
        return series;
      }),
    ]),
  );
  const clientSeries = byOperation((operation, status) =>
    client.series(operation.upstream, operation.method, routes.statusOf(operation, status)),
  );
  const rejected = createCounter(registry, {
    name: 'gateway_requests_rejected_total',
    help: 'Refusals by stage and code; upstream_own stands for every code that an upstream chose itself.',
    labelNames: ['stage', 'code'],
  });
  const allRejected: Count[] = [];
  const rejectedBy = memoize((stage: string) =>
    memoize((code: string) => {
      const count = rejected(stage, code);
      allRejected.push(count);
      return count;
    }),
  );
  const tunnelled = counter(
    'gateway_tunnel_exchanges_total',
    'Requests and upgrades through a tunnel, counted at their end.',
    ['tunnel', 'http_response_status_code'],
  );
  const streams = counter(
    'gateway_streams_total',
    'Streams of operations, counted at their end; end says why: the upstream, the client, failed, or why the gateway ended it.',
    ['http_route', 'kind', 'end'],
  );
  const limits = createLimitMetrics(registry, options.onPressure);
  const upstreams = createUpstreamMetrics(registry);
  const violations = counter(
    'gateway_validation_failures_total',
    'Requests (request) and answers (response) that do not match their contract.',
    ['direction', 'http_route'],
  );
  const replays = counter(
    'gateway_idempotent_replays_total',
    'Requests answered with the stored answer of an earlier request with the same Idempotency-Key.',
    ['http_route'],
  );
  const lost = counter(
    'gateway_idempotent_outcomes_unknown_total',
    'Requests with an Idempotency-Key that were sent and whose outcome is unknown: the key is refused from then on.',
    ['http_route'],
  );
  const reloads = counter(
    'gateway_configuration_reloads_total',
    'Reloads of the configuration: applied, or refused because of mistakes.',
    ['outcome'],
  );
  for (const outcome of ['applied', 'refused']) reloads.inc({ outcome }, 0);
  const linesDropped = createLinesDropped(registry);
  const spans = counter(
    'gateway_trace_spans_total',
    'Spans of traces: exported, or dropped because the collector took none.',
    ['outcome'],
  );
  const faults = counter(
    'gateway_faults_total',
    'Errors thrown outside a request. Each ended one exchange or connection at most, is in the log, and is a bug in the gateway.',
    [],
  );
  const redisDropped = counter(
    'gateway_redis_connections_dropped_total',
    'Connections to Redis that were dropped, because a reply was damaged, wrong or unasked. New ones take their place.',
    [],
  );
  redisDropped.inc({}, 0);
  // Compared by the alerts of deploy/prometheus, whatever operations are served.
  for (const stage of STAGES) rejectedBy(stage)('internal_error');
  for (const code of CREDENTIAL_CODES) rejectedBy(OWNER_KNOWN.has(code) ? 'authorize' : 'authenticate')(code);
  for (const outcome of ['exported', 'dropped']) spans.inc({ outcome }, 0);
  server.series(OTHER_METHOD, 'unmatched', '500', '');
  const build = {
    name: 'gateway_build_info',
    help: 'Always 1: the version that runs.',
    labelNames: ['version'],
    aggregator: 'first' as const,
    registers: [registry],
  };
  new Gauge(build).set({ version: options.version }, 1);

  function counter(name: string, help: string, labelNames: string[]): Counter<string> {
    return new Counter({ name, help, labelNames, registers: [registry] });
  }

  function expect(operations: readonly Measured[], operationsMax: number): void {
    routes.use(operations, operationsMax);
    serverSeries.forget();
    clientSeries.forget();
    const served = new Set(operations.map(routes.routeOf));
    server.retain(({ http_route: route = '' }) => route === 'unmatched' || served.has(route));
    for (const http_route of served) violations.inc({ direction: 'response', http_route }, 0);
    for (const upstream of new Set(operations.map((operation) => operation.upstream))) {
      upstreams.expect(upstream);
      client.series(upstream, 'GET', '503');
    }
  }

  function reload(outcome: 'applied' | 'refused'): void {
    reloads.inc({ outcome });
  }

  function seriesOf({ operation, method, status }: Trail): Series {
    if (operation !== undefined) return serverSeries.of(operation, status);
    const ofMethod = unmatchedSeries.get(method) ?? unmatchedSeries.get(OTHER_METHOD);
    return (ofMethod as (status: number) => Series)(status);
  }

  function exchange(trail: Trail): void {
    const { operation, upstreamStatus, upstreamMs, code, rare } = trail;
    if (rare !== undefined) count(rare, trail);
    // The duration of what stays open says nothing about the latency of answers.
    if (rare?.tunnel === undefined && rare?.stream === undefined) seriesOf(trail).observe(trail.durationMs() / 1000);
    if (operation !== undefined && upstreamStatus !== undefined && upstreamMs !== undefined)
      clientSeries.of(operation, upstreamStatus).observe(upstreamMs / 1000);
    limits.decision(trail);
    // Upstreams may use codes of their own, which must not become an unbounded label.
    if (code !== undefined) rejectedBy(trail.stage)(code in REFUSALS ? code : 'upstream_own').value += 1;
    if (code === 'validation_failed') violations.inc({ direction: 'request', http_route: routes.routeOf(operation) });
  }

  /** Counts what few exchanges have. */
  function count(rare: RareNotes, trail: Trail): void {
    const http_route = routes.routeOf(trail.operation);
    const { tunnel, stream, answerViolations } = rare;
    if (tunnel !== undefined) tunnelled.inc({ tunnel, http_response_status_code: trail.status });
    else if (stream !== undefined) streams.inc({ http_route, kind: stream, end: endOf(trail) });
    if (rare.replayed) replays.inc({ http_route });
    if (rare.outcomeUnknown) lost.inc({ http_route });
    if (answerViolations) violations.inc({ direction: 'response', http_route });
    upstreams.rare(rare, trail.operation?.upstream ?? '');
  }

  return {
    ...createConnectionMetrics(registry),
    exchange,
    reload,
    limitBatch: limits.batch,
    targets: createTargetMetrics(registry),
    overload: createOverloadMetrics(registry),
    fault: () => faults.inc(),
    redisConnectionDropped: () => redisDropped.inc(),
    expect,
    logLinesDropped: (lines) => linesDropped.inc(lines),
    spans: (outcome, count) => spans.inc({ outcome }, count),
    watch: (sources) => registerGauges(registry, sources),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    snapshot: () => registry.getMetricsAsJSON(),
    async sample() {
      const seen = allRejected.filter(({ value }) => value > 0);
      const refusals = seen.map(({ labels, value }) => ({
        stage: labels.stage as string,
        code: labels.code as string,
        count: value,
      }));
      return { operations: traffic.sample(), refusals };
    },
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
    /** Series are made anew, with labels that may differ. */
    forget(): void {
      known = new WeakMap();
    },
  };
}

/** Why a stream has ended. */
function endOf({ rare, status, code }: Trail): string {
  if (rare?.streamEnd !== undefined) return rare.streamEnd;
  return status === 499 ? 'client' : code === undefined ? 'upstream' : 'failed';
}
