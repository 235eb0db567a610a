// All metrics of a serving process. Each file of this folder that ends with `-metrics` registers a part; this file registers the metrics of
// overload.

import { Gauge, Registry } from '@prometheus-io/client';
import { memoize } from '../../shared/memoize.ts';
import { type ConnectionMetrics, createConnectionMetrics } from './connection-metrics.ts';
import { createExchangeMetrics, type ExchangeMetrics } from './exchange-metrics.ts';
import { type GaugeSources, registerGauges } from './gauges.ts';
import {
  type AlertMetrics,
  createAlertMetrics,
  createLinesDropped,
  registerCounter,
  registerProcessMetrics,
} from './library-metrics.ts';
import type { OnPressure } from './limit-metrics.ts';
import { createHistogram } from './series.ts';
import { createTargetMetrics, type TargetMetrics } from './upstream-metrics.ts';
import type { MetricSnapshot } from './worker-metrics.ts';

export interface Metrics extends ConnectionMetrics, ExchangeMetrics {
  /** Counts a reload of the configuration that was applied, or refused because of mistakes. */
  reload(outcome: 'applied' | 'refused'): void;
  readonly targets: TargetMetrics;
  readonly overload: OverloadMetrics;
  /** Counts an error that was thrown outside a request. */
  fault(): void;
  /** Counts a connection to Redis that was dropped because of damaged replies. */
  redisConnectionDropped(): void;
  /** Counts lines that standard output did not accept in time. */
  logLinesDropped(lines: number): void;
  readonly alerts: AlertMetrics;
  /** Counts spans that were exported or dropped. */
  spans(outcome: 'exported' | 'dropped', count: number): void;
  /** Call it once, when all parts with gauges are open. */
  watch(sources: GaugeSources): void;
  readonly contentType: string;
  text(): Promise<string>;
  /** Returns the metrics as data, in order to combine them with the metrics of other workers. */
  snapshot(): Promise<MetricSnapshot[]>;
}

interface MetricsOptions {
  /** The registry of the metrics. Default: a new registry. `npm run docs` passes its own registry, and lists the metrics in it. */
  readonly registry?: Registry;
  readonly version: string;
  readonly onPressure: OnPressure;
}

export function createMetrics({ registry = new Registry(), version, onPressure }: MetricsOptions): Metrics {
  registerProcessMetrics(registry);
  const exchanges = createExchangeMetrics(registry, onPressure);
  const reloads = registerCounter(
    registry,
    'gateway_configuration_reloads_total',
    'Reloads of the configuration: applied, or refused because of mistakes.',
    ['outcome'],
  );
  for (const outcome of ['applied', 'refused']) reloads.inc({ outcome }, 0);
  const linesDropped = createLinesDropped(registry);
  const spans = registerCounter(
    registry,
    'gateway_trace_spans_total',
    'Spans of traces: exported, or dropped because the collector took none.',
    ['outcome'],
  );
  for (const outcome of ['exported', 'dropped']) spans.inc({ outcome }, 0);
  const faults = registerCounter(
    registry,
    'gateway_faults_total',
    'Errors thrown outside a request. Each ended one exchange or connection at most, is in the log, and is a bug in the gateway.',
  );
  const redisDropped = registerCounter(
    registry,
    'gateway_redis_connections_dropped_total',
    'Connections to Redis that were dropped, because a reply was damaged, wrong or unasked. New ones take their place.',
  );
  const build = {
    name: 'gateway_build_info',
    help: 'Always 1: the version that runs.',
    labelNames: ['version'],
    aggregator: 'first' as const,
    registers: [registry],
  };
  new Gauge(build).set({ version }, 1);

  return {
    ...createConnectionMetrics(registry),
    ...exchanges,
    reload: (outcome) => reloads.inc({ outcome }),
    targets: createTargetMetrics(registry),
    overload: createOverloadMetrics(registry),
    fault: () => faults.inc(),
    redisConnectionDropped: () => redisDropped.inc(),
    logLinesDropped: (lines) => linesDropped.inc(lines),
    alerts: createAlertMetrics(registry),
    spans: (outcome, count) => spans.inc({ outcome }, count),
    watch: (sources) => registerGauges(registry, sources),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    snapshot: () => registry.getMetricsAsJSON(),
  };
}

interface OverloadMetrics {
  shed(reason: ShedReasonLabel): void;
  /** Counts a request that was forwarded after this many milliseconds in the queue. */
  queued(upstream: string, waitedMs: number): void;
}

/** Bounds of the buckets in seconds. Requests that did not wait are not counted. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** An alert compares these series, so each begins at 0. */
const SHED_REASONS = [
  'event_loop',
  'in_flight',
  'organization',
  'buffered_bytes',
  'upstream_queue',
  'upstream_wait',
] as const;

type ShedReasonLabel = (typeof SHED_REASONS)[number];

function createOverloadMetrics(registry: Registry): OverloadMetrics {
  const shed = registerCounter(
    registry,
    'gateway_shed_total',
    'Requests refused because of overload: upstream_queue, upstream_wait, in_flight, organization, buffered_bytes, event_loop.',
    ['reason'],
  );
  for (const reason of SHED_REASONS) shed.inc({ reason }, 0);
  const wait = createHistogram(registry, {
    name: 'gateway_upstream_queue_seconds',
    help: 'Time in the queue of an upstream, of the requests that waited and were then sent.',
    labelNames: ['upstream'],
    buckets: BUCKETS,
  });
  const waitAt = memoize((upstream: string) => wait.series(upstream));

  return {
    shed: (reason) => shed.inc({ reason }),
    queued: (upstream, waitedMs) => void waitAt(upstream).observe(waitedMs / 1000),
  };
}
