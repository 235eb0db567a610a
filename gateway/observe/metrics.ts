// Counters and histograms from the trail. Labels come from contracts and the catalogue, never from a client.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { Trail } from '../exchange.ts';

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
}

// OpenTelemetry's advice for http.server.request.duration (semantic conventions 1.44), in seconds.
const buckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const server = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Duration of exchanges, from arrival to the end of the answer.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code', 'api_version'],
    buckets,
    registers,
  });
  const client = new Histogram({
    name: 'http_client_request_duration_seconds',
    help: 'Time until an upstream began to answer.',
    labelNames: ['upstream', 'http_request_method', 'http_response_status_code'],
    buckets,
    registers,
  });
  const rejected = new Counter({
    name: 'gateway_requests_rejected_total',
    help: 'Refusals by the stage that made them and their code.',
    labelNames: ['stage', 'code'],
    registers,
  });
  const decisions = new Counter({
    name: 'gateway_rate_limit_decisions_total',
    help: 'Decisions of the limit stage; shadow_refused were admitted because the limit is not enforced.',
    labelNames: ['policy', 'decision'],
    registers,
  });
  const violations = new Counter({
    name: 'gateway_validation_failures_total',
    help: 'Requests and answers that do not match the contract.',
    labelNames: ['direction', 'http_route'],
    registers,
  });
  gauge('http_server_active_requests', 'Requests being worked on.', options.activeRequests);
  gauge('gateway_limit_store_away', '1 while limits are decided without their store.', options.limitStoreAway);
  new Gauge({ name: 'gateway_build_info', help: 'The version that runs.', labelNames: ['version'], registers }).set(
    { version: options.version },
    1,
  );

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }

  // Series are looked up once per combination of labels; finding them again by label values would cost more than observing.
  const serverSeries = createSeries((method: string, route: string, status: string, version: string) =>
    server.labels(method, route, status, version),
  );
  const clientSeries = createSeries((upstream: string, method: string, status: string) =>
    client.labels(upstream, method, status),
  );
  const decisionSeries = createSeries((policy: string, decision: string) => decisions.labels(policy, decision));

  function exchange(trail: Trail): void {
    const { operation, upstreamStatus, upstreamMs, quota, code } = trail;
    const route = operation?.path ?? 'unmatched';
    const method = operation?.method ?? '_OTHER';
    serverSeries(method, route, String(trail.status), operation?.version ?? '').observe(
      (performance.now() - trail.startedAt) / 1000,
    );
    if (operation && upstreamStatus !== undefined && upstreamMs !== undefined) {
      clientSeries(operation.upstream, method, String(upstreamStatus)).observe(upstreamMs / 1000);
    }
    if (quota?.tightest) decisionSeries(quota.tightest.policy, code === 'rate_limited' ? 'refused' : 'admitted').inc();
    for (const policy of trail.shadowRefusals ?? []) decisionSeries(policy, 'shadow_refused').inc();
    if (code !== undefined) rejected.labels(trail.stage, code).inc();
    if (code === 'validation_failed') violations.labels('request', route).inc();
    if (trail.answerViolations) violations.labels('response', route).inc();
  }

  return { exchange, contentType: registry.contentType, text: () => registry.metrics() };
}

function createSeries<S>(find: (...labels: string[]) => S): (...labels: string[]) => S {
  const known = new Map<string, S>();
  return (...labels) => {
    const name = labels.join(' ');
    let series = known.get(name);
    if (series === undefined) {
      series = find(...labels);
      known.set(name, series);
    }
    return series;
  };
}
