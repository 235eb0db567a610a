// Metrics of exchanges: refusals, tunnels, streams and violations of contracts. duration-metrics.ts contains the durations. Labels come
// from contracts and the catalogue, never from a client.

import type { Registry } from '@prometheus-io/client';
import { REFUSALS } from '../../catalogue/errors.ts';
import type { RareNotes } from '../../catalogue/log-fields.ts';
import type { Trail } from '../../exchange/trail.ts';
import { REFUSED_UNSENT, wasRefused } from '../../shared/failed-requests.ts';
import { memoize } from '../../shared/memoize.ts';
import { STAGES } from '../../stages.ts';
import { createDurationMetrics, DURATION_BUCKETS } from './duration-metrics.ts';
import { registerCounter } from './library-metrics.ts';
import { createLimitMetrics, type OnPressure } from './limit-metrics.ts';
import { createRouteSeries, type MeasuredOperation } from './route-series.ts';
import { type Count, createCounter } from './series.ts';
import { createCallerTraffic, type OperationTraffic } from './traffic.ts';
import { createUpstreamMetrics } from './upstream-metrics.ts';

export interface ExchangeMetrics {
  countExchange(trail: Trail): void;
  /** Records one command to the store of the limits, in milliseconds from its first request to the verdict. */
  readonly limitBatch: (durationMs: number) => void;
  /**
   * Creates the series that alerts compare, with the value 0, because an alert on `increase()` would miss the event that creates its
   * series. Call it with the operations of each configuration before they are served. With more operations than `operationsMax`, metrics
   * are kept by entry.
   */
  expect(operations: readonly MeasuredOperation[], operationsMax: number): void;
  /** Returns the small part of the metrics that the console reads every few seconds. */
  sample(): Promise<MetricsSample>;
}

interface MetricsSample {
  readonly operations: readonly OperationTraffic[];
  /** The traffic of active organizations. */
  readonly organizations: readonly OperationTraffic[];
  /** The traffic of upstreams: the time until the answer began, and the statuses of the upstream. */
  readonly upstreams: readonly OperationTraffic[];
  readonly refusals: readonly { readonly stage: string; readonly code: string; readonly count: number }[];
}

/** Codes of keys whose owner is known. `authorize` refuses these keys, so that the log names the organization. */
const OWNER_KNOWN: ReadonlySet<string> = new Set(['api_key_expired', 'api_key_revoked']);
/** Codes of invalid credentials. */
const CREDENTIAL_CODES = Object.entries(REFUSALS).flatMap(([code, { status }]) => (status === 401 ? [code] : []));

export function createExchangeMetrics(registry: Registry, onPressure: OnPressure): ExchangeMetrics {
  const routes = createRouteSeries();
  const durations = createDurationMetrics(registry, routes);
  const organizations = createCallerTraffic(DURATION_BUCKETS.length + 1);
  const refusals = createRefusalCounts(registry);
  // The page /metrics has the metrics in the order of these lines.
  const longCounters = registerLongCounters(registry);
  const limits = createLimitMetrics(registry, onPressure);
  const upstreams = createUpstreamMetrics(registry);
  const counters = { ...longCounters, ...registerCounters(registry) };

  function expect(operations: readonly MeasuredOperation[], operationsMax: number): void {
    routes.use(operations, operationsMax);
    const served = new Set(operations.map(routes.routeOf));
    durations.expect(operations, served);
    for (const http_route of served) counters.violations.inc({ direction: 'response', http_route }, 0);
    for (const upstream of new Set(operations.map((operation) => operation.upstream))) upstreams.expect(upstream);
  }

  function countExchange(trail: Trail): void {
    const { operation, code, rare } = trail;
    if (rare !== undefined) count(rare, trail);
    // Tunnels and streams are left out, because how long they stay open says nothing about the latency of answers.
    if (rare?.tunnel === undefined && rare?.stream === undefined) noteCaller(trail, durations.countExchange(trail));
    durations.upstream(trail);
    limits.decision(trail);
    if (code !== undefined) refusals.count(trail, code);
    if (code === 'validation_failed')
      counters.violations.inc({ direction: 'request', http_route: routes.routeOf(operation) });
  }

  /** Counts a request for its organization. Refused requests and answers that break the contract are also counted separately. */
  function noteCaller(trail: Trail, bucket: number): void {
    const { caller, code, operation, rare, status } = trail;
    const isRefusal = wasRefused(trail);
    if (isRefusal) durations.refused(trail);
    const isBroken = rare?.answerViolations !== undefined && code === undefined;
    if (isBroken && operation !== undefined) durations.broken(operation, rare.answersAlike ?? 1);
    const organization = caller?.organization;
    if (organization !== undefined) organizations.note(organization.id, bucket, status, isRefusal, isBroken);
  }

  /** Counts what few exchanges have. */
  function count(rare: RareNotes, trail: Trail): void {
    const http_route = routes.routeOf(trail.operation);
    const { tunnel, stream, answerViolations } = rare;
    if (tunnel !== undefined) counters.tunnelled.inc({ tunnel, http_response_status_code: trail.status });
    else if (stream !== undefined) counters.streams.inc({ http_route, kind: stream, end: endOf(trail) });
    if (rare.replayed) counters.replays.inc({ http_route });
    if (rare.outcomeUnknown) counters.lost.inc({ http_route });
    if (answerViolations) counters.violations.inc({ direction: 'response', http_route });
    if (rare.mcp !== undefined) counters.messages.inc({ method: rare.mcp });
    if (rare.tool !== undefined) counters.toolCalls.inc({ http_route, outcome: toolOutcomeOf(trail) });
    upstreams.rare(rare, trail.operation?.upstream ?? '');
  }

  return {
    countExchange,
    limitBatch: limits.batch,
    expect,
    sample: async () => ({ ...durations.sample(), organizations: organizations.sample(), refusals: refusals.sample() }),
  };
}

/** Counts refusals by stage and code. */
function createRefusalCounts(registry: Registry) {
  /** The refusals of the stage `forward` whose request was sent to no target, by code. */
  const unsent = new Map<string, number>();
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
  // These series must exist from the start, because alerts of deploy/prometheus compare them.
  for (const stage of STAGES) rejectedBy(stage)('internal_error');
  for (const code of CREDENTIAL_CODES) rejectedBy(OWNER_KNOWN.has(code) ? 'authorize' : 'authenticate')(code);

  return {
    count(trail: Trail, code: string): void {
      // Upstreams may use their own codes, which must not become an unbounded label.
      rejectedBy(trail.stage)(Object.hasOwn(REFUSALS, code) ? code : 'upstream_own').value += 1;
      if (trail.stage === 'forward' && wasRefused(trail)) unsent.set(code, (unsent.get(code) ?? 0) + 1);
    },
    sample(): MetricsSample['refusals'] {
      const seen = allRejected.filter(({ value }) => value > 0);
      return seen.flatMap(({ labels, value }) => {
        const { stage, code } = labels as { readonly stage: string; readonly code: string };
        const unsentOnes = stage === 'forward' ? (unsent.get(code) ?? 0) : 0;
        const sent = { stage, code, count: value - unsentOnes };
        return unsentOnes === 0 ? [sent] : [sent, { stage: REFUSED_UNSENT[code] as string, code, count: unsentOnes }];
      });
    },
  };
}

/** Registers the counters of exchanges that stay open. */
function registerLongCounters(registry: Registry) {
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
  return { tunnelled, streams };
}

/** Registers the counters of what few exchanges have. */
function registerCounters(registry: Registry) {
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
  return { violations, replays, lost, messages, toolCalls };
}

function toolOutcomeOf({ status }: Trail): string {
  return status === 499 ? 'left' : status >= 400 ? 'refused' : 'answered';
}

/** Returns the label for the reason why a stream has ended. */
function endOf({ rare, status, code }: Trail): string {
  if (rare?.streamEnd !== undefined) return rare.streamEnd;
  return status === 499 ? 'client' : code === undefined ? 'upstream' : 'failed';
}
