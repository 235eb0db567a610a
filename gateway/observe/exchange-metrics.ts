// Metrics of exchanges: their durations, refusals, tunnels, streams and violations of contracts. Labels come from contracts and the
// catalogue, never from a client.

import type { Registry } from '@prometheus-io/client';
import { REFUSALS } from '../error-catalogue.ts';
import type { RareNotes } from '../log-fields.ts';
import type { Operation } from '../operation.ts';
import { METHODS } from '../shared/methods.ts';
import { hasFailed, REFUSED_UNSENT, wasRefused } from '../shared/refused.ts';
import { STAGES } from '../stages.ts';
import type { Trail } from '../trail.ts';
import { createCallerTraffic } from './caller-traffic.ts';
import { registerCounter } from './library-metrics.ts';
import { createLimitMetrics, type OnPressure } from './limit-metrics.ts';
import { memoize } from './memoize.ts';
import { createRouteSeries, type Measured } from './route-series.ts';
import { type Count, createCounter, createHistogram, type Series } from './series.ts';
import { createTraffic, type OperationTraffic } from './traffic.ts';
import { createUpstreamMetrics } from './upstream-metrics.ts';

export interface ExchangeMetrics {
  exchange(trail: Trail): void;
  /** Records one command to the store of the limits, in milliseconds from its first request to the verdict. */
  readonly limitBatch: (durationMs: number) => void;
  /**
   * Call it with the operations of each configuration before they are served. Series that an alert compares begin at 0, because an alert on
   * `increase()` misses the event that creates its series. With more operations than `operationsMax`, metrics are kept by entry.
   */
  expect(operations: readonly Measured[], operationsMax: number): void;
  /** A small part of the metrics, for the console, which reads it every few seconds. */
  sample(): Promise<MetricsSample>;
}

interface MetricsSample {
  readonly operations: readonly OperationTraffic[];
  /** By organization id: those that are active. */
  readonly callers: readonly OperationTraffic[];
  /** By upstream: the time until it began to answer, by its own statuses. */
  readonly upstreams: readonly OperationTraffic[];
  readonly refusals: readonly { readonly stage: string; readonly code: string; readonly count: number }[];
}

// Buckets in seconds: those that OpenTelemetry advises for http.server.request.duration (semantic conventions 1.44), and three below,
// because most answers take less than its first bound of 5 ms.
export const DURATION_BUCKETS = [
  ...[0.0005, 0.001, 0.002],
  ...[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
];

/** One label for all methods that clients invent (OpenTelemetry, `http.request.method`). */
const OTHER_METHOD = '_OTHER';
const knownMethods = ['CONNECT', ...METHODS];

/** Codes of keys whose owner is known: `authorize` refuses them, so that the log names the organization. */
const OWNER_KNOWN: ReadonlySet<string> = new Set(['api_key_expired', 'api_key_revoked']);
/** Codes of invalid credentials. */
const CREDENTIAL_CODES = Object.entries(REFUSALS).flatMap(([code, { status }]) => (status === 401 ? [code] : []));

/** 502, 503 and 504 are about the service. */
const UNANSWERED_STATUS = 502;

export function createExchangeMetrics(registry: Registry, onPressure: OnPressure): ExchangeMetrics {
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
  const upstreamTraffic = createTraffic();
  /** By code: those of the stage `forward` whose request was sent to no target. */
  const unsent = new Map<string, number>();
  const callers = createCallerTraffic(DURATION_BUCKETS.length + 1);
  const routes = createRouteSeries();
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
    [...knownMethods, OTHER_METHOD].map((method) => [
      method,
      memoize((status: number) => {
        const series = server.series(method, 'unmatched', String(status), '');
        traffic.watch(`${method} unmatched`, status, series.buckets);
        return series;
      }),
    ]),
  );
  const clientSeries = byOperation((operation, status) => {
    const { upstream, method } = operation;
    const label = routes.statusOf(operation, status);
    const series = client.series(upstream, method, label);
    upstreamTraffic.watch(upstream, status, series.buckets, `${method} ${label}`);
    return series;
  });
  /** The gateway answered in the place of a service that did not: for the histogram there was no answer, for operators there was a failure. */
  const unansweredOf = memoize((upstream: string) => {
    const buckets = new Float64Array(DURATION_BUCKETS.length + 1);
    upstreamTraffic.watch(upstream, UNANSWERED_STATUS, buckets, 'unanswered');
    return buckets;
  });
  const refusedOf = byOperationAlone(({ method, path }) => traffic.refusedOf(`${method} ${path}`));
  const refusedUnmatched = memoize((method: string) => traffic.refusedOf(`${method} unmatched`));
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
  const tunnelled = registerCounter(
    registry,
    'gateway_tunnel_exchanges_total',
    'Requests and upgrades through a tunnel, counted at their end.',
    ['tunnel', 'http_response_status_code'],
  );
  const streams = registerCounter(
    registry,
    'gateway_streams_total',
    'Streams of operations, counted at their end; end says why: the upstream, the client, failed, or why the gateway ended it.',
    ['http_route', 'kind', 'end'],
  );
  const limits = createLimitMetrics(registry, onPressure);
  const upstreams = createUpstreamMetrics(registry);
  const violations = registerCounter(
    registry,
    'gateway_validation_failures_total',
    'Requests (request) and answers (response) that do not match their contract.',
    ['direction', 'http_route'],
  );
  const replays = registerCounter(
    registry,
    'gateway_idempotent_replays_total',
    'Requests answered with the stored answer of an earlier request with the same Idempotency-Key.',
    ['http_route'],
  );
  const lost = registerCounter(
    registry,
    'gateway_idempotent_outcomes_unknown_total',
    'Requests with an Idempotency-Key that were sent and whose outcome is unknown: the key is refused from then on.',
    ['http_route'],
  );
  const messages = registerCounter(
    registry,
    'gateway_agent_messages_total',
    'Messages of agents (Model Context Protocol), by method.',
    ['method'],
  );
  const toolCalls = registerCounter(
    registry,
    'gateway_tool_calls_total',
    'Calls of operations as tools; outcome is answered, refused (by the gateway or the service), or left (the agent has gone).',
    ['http_route', 'outcome'],
  );
  // Compared by the alerts of deploy/prometheus, whatever operations are served.
  for (const stage of STAGES) rejectedBy(stage)('internal_error');
  for (const code of CREDENTIAL_CODES) rejectedBy(OWNER_KNOWN.has(code) ? 'authorize' : 'authenticate')(code);
  server.series(OTHER_METHOD, 'unmatched', '500', '');

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

  function seriesOf({ operation, method, status }: Trail): Series {
    if (operation !== undefined) return serverSeries.of(operation, status);
    const ofMethod = unmatchedSeries.get(method) ?? unmatchedSeries.get(OTHER_METHOD);
    return (ofMethod as (status: number) => Series)(status);
  }

  function exchange(trail: Trail): void {
    const { operation, upstreamStatus, upstreamMs, code, rare } = trail;
    if (rare !== undefined) count(rare, trail);
    // The duration of what stays open says nothing about the latency of answers.
    if (rare?.tunnel === undefined && rare?.stream === undefined) {
      const bucket = seriesOf(trail).observe(trail.durationMs() / 1000);
      noteCaller(trail, bucket);
      if (operation !== undefined && upstreamStatus === undefined && isUnanswered(trail)) {
        const buckets = unansweredOf(operation.upstream);
        buckets[bucket] = (buckets[bucket] as number) + 1;
      }
    }
    if (operation !== undefined && upstreamStatus !== undefined && upstreamMs !== undefined)
      clientSeries.of(operation, upstreamStatus).observe(upstreamMs / 1000);
    limits.decision(trail);
    // Upstreams may use codes of their own, which must not become an unbounded label.
    if (code !== undefined) {
      rejectedBy(trail.stage)(code in REFUSALS ? code : 'upstream_own').value += 1;
      if (trail.stage === 'forward' && wasRefused(trail)) unsent.set(code, (unsent.get(code) ?? 0) + 1);
    }
    if (code === 'validation_failed') violations.inc({ direction: 'request', http_route: routes.routeOf(operation) });
  }

  /** Counts requests that the gateway refused apart from those that reached the service. */
  function noteCaller(trail: Trail, bucket: number): void {
    const { caller, operation, method, status } = trail;
    const isRefusal = wasRefused(trail);
    if (isRefusal) {
      const known = unmatchedSeries.has(method) ? method : OTHER_METHOD;
      const refused = operation === undefined ? refusedUnmatched(known) : refusedOf(operation);
      refused.all += 1;
      if (status >= 500) refused.with5xx += 1;
    }
    if (caller?.organization !== undefined) callers.note(caller.organization.id, bucket, status, isRefusal);
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
    if (rare.mcp !== undefined) messages.inc({ method: rare.mcp });
    if (rare.tool !== undefined) toolCalls.inc({ http_route, outcome: outcomeOf(trail) });
    upstreams.rare(rare, trail.operation?.upstream ?? '');
  }

  return {
    exchange,
    limitBatch: limits.batch,
    expect,
    async sample() {
      const seen = allRejected.filter(({ value }) => value > 0);
      const refusals = seen.flatMap(({ labels, value }) => {
        const { stage, code } = labels as { readonly stage: string; readonly code: string };
        const ofThem = stage === 'forward' ? (unsent.get(code) ?? 0) : 0;
        const sent = { stage, code, count: value - ofThem };
        return ofThem === 0 ? [sent] : [sent, { stage: REFUSED_UNSENT[code] as string, code, count: ofThem }];
      });
      return { operations: traffic.sample(), callers: callers.sample(), upstreams: upstreamTraffic.sample(), refusals };
    },
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
    /** Series are made anew, with labels that may differ. */
    forget(): void {
      known = new WeakMap();
    },
  };
}

function outcomeOf({ status }: Trail): string {
  return status === 499 ? 'left' : status >= 400 ? 'refused' : 'answered';
}

/** Why a stream has ended. */
function endOf({ rare, status, code }: Trail): string {
  if (rare?.streamEnd !== undefined) return rare.streamEnd;
  return status === 499 ? 'client' : code === undefined ? 'upstream' : 'failed';
}
