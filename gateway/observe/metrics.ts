// Counters and histograms from the trail. Labels come from contracts and the catalogue, never from a client.

import { Counter, collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import { REFUSALS } from '../errors.ts';
import type { Operation, Trail } from '../exchange.ts';
import { createHistogram, type Series } from './histogram.ts';

export interface Metrics {
  exchange(trail: Trail): void;
  readonly contentType: string;
  text(): Promise<string>;
}

export interface MetricsOptions {
  readonly version: string;
  /** Requests being worked on right now. */
  activeRequests(): number;
  /** 1 while the store of the limits is away. */
  limitStoreAway(): number;
  /** 1 while the key store cannot be read. */
  keyStoreAway(): number;
}

// OpenTelemetry's advice for http.server.request.duration (semantic conventions 1.44), in seconds.
const buckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const server = createHistogram(registry, {
    name: 'http_server_request_duration_seconds',
    help: 'Duration of exchanges, from arrival to the end of the answer.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code', 'api_version'],
    buckets,
  });
  const client = createHistogram(registry, {
    name: 'http_client_request_duration_seconds',
    help: 'Time until an upstream began to answer.',
    labelNames: ['upstream', 'http_request_method', 'http_response_status_code'],
    buckets,
  });
  const serverSeries = byOperation((operation, status) =>
    server(operation?.method ?? '_OTHER', operation?.path ?? 'unmatched', String(status), operation?.version ?? ''),
  );
  const clientSeries = byOperation((operation, status) =>
    client(operation?.upstream ?? '', operation?.method ?? '', String(status)),
  );
  const rejected = counter('gateway_requests_rejected_total', 'Refusals by the stage that made them and their code.', [
    'stage',
    'code',
  ]);
  const decisions = counter(
    'gateway_rate_limit_decisions_total',
    'Decisions of the limit stage; shadow_refused were admitted because the limit is not enforced.',
    ['policy', 'decision'],
  );
  const violations = counter(
    'gateway_validation_failures_total',
    'Requests and answers that do not match the contract.',
    ['direction', 'http_route'],
  );
  const replays = counter(
    'gateway_idempotent_replays_total',
    'Requests that were answered with what was kept of an earlier one with the same Idempotency-Key.',
    ['http_route'],
  );
  gauge('http_server_active_requests', 'Requests being worked on.', options.activeRequests);
  gauge('gateway_limit_store_away', '1 while limits are decided without their store.', options.limitStoreAway);
  gauge(
    'gateway_key_store_away',
    '1 while keys cannot be looked up, and known ones go on for the grace.',
    options.keyStoreAway,
  );
  const build = {
    name: 'gateway_build_info',
    help: 'The version that runs.',
    labelNames: ['version'],
    registers: [registry],
  };
  new Gauge(build).set({ version: options.version }, 1);

  function counter(name: string, help: string, labelNames: string[]): Counter<string> {
    return new Counter({ name, help, labelNames, registers: [registry] });
  }

  function gauge(name: string, help: string, read: () => number): void {
    const collect = function (this: Gauge) {
      this.set(read());
    };
    new Gauge({ name, help, registers: [registry], collect });
  }

  const known = new Map<string, { readonly admitted: Counted; readonly refused: Counted }>();
  function decisionsOn(policy: string) {
    let both = known.get(policy);
    if (both === undefined) {
      both = { admitted: decisions.labels(policy, 'admitted'), refused: decisions.labels(policy, 'refused') };
      known.set(policy, both);
    }
    return both;
  }

  function exchange(trail: Trail): void {
    const { operation, upstreamStatus, upstreamMs, quota, code } = trail;
    serverSeries(operation, trail.status).observe((performance.now() - trail.startedAt) / 1000);
    if (upstreamStatus !== undefined && upstreamMs !== undefined)
      clientSeries(operation, upstreamStatus).observe(upstreamMs / 1000);
    if (quota?.tightest) {
      const { admitted, refused } = decisionsOn(quota.tightest.policy);
      (code === 'rate_limited' ? refused : admitted).inc();
    }
    for (const policy of trail.shadowRefusals ?? []) decisions.inc({ policy, decision: 'shadow_refused' });
    // Upstreams choose codes of their own, which must not become endless labels.
    if (code !== undefined) rejected.inc({ stage: trail.stage, code: code in REFUSALS ? code : 'upstream_own' });
    if (code === 'validation_failed')
      violations.inc({ direction: 'request', http_route: operation?.path ?? 'unmatched' });
    if (trail.replayed) replays.inc({ http_route: operation?.path ?? 'unmatched' });
    if (trail.answerViolations) violations.inc({ direction: 'response', http_route: operation?.path ?? 'unmatched' });
  }

  return { exchange, contentType: registry.contentType, text: () => registry.metrics() };
}

/** One series of a counter. */
type Counted = ReturnType<Counter<string>['labels']>;

/** Finds the series of an operation and status by identity, which costs two look-ups. */
function byOperation(make: (operation: Operation | undefined, status: number) => Series) {
  const known = new Map<Operation | undefined, Map<number, Series>>();
  return (operation: Operation | undefined, status: number): Series => {
    let byStatus = known.get(operation);
    if (byStatus === undefined) {
      byStatus = new Map();
      known.set(operation, byStatus);
    }
    let series = byStatus.get(status);
    if (series === undefined) {
      series = make(operation, status);
      byStatus.set(status, series);
    }
    return series;
  };
}
