// Metrics of overload: refused requests, and how long requests waited for a free slot at their upstream.

import type { Registry } from '@prometheus-io/client';
import { registerCounter } from './library-metrics.ts';
import { memoize } from './memoize.ts';
import { createHistogram } from './series.ts';

export interface OverloadMetrics {
  shed(reason: ShedReasonLabel): void;
  /** A request was forwarded to its upstream after waiting this many milliseconds in the queue. */
  queued(upstream: string, waitedMs: number): void;
}

/** In seconds; requests that did not wait are not counted. */
const buckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

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

export function createOverloadMetrics(registry: Registry): OverloadMetrics {
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
    buckets,
  });
  const waitAt = memoize((upstream: string) => wait.series(upstream));

  return {
    shed: (reason) => shed.inc({ reason }),
    queued: (upstream, waitedMs) => void waitAt(upstream).observe(waitedMs / 1000),
  };
}
