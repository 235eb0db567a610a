// Metrics that each process has, those of workers and the primary process included.

import { type Counter, collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { registerCounter } from './library-metrics.ts';

/** The library's own intervals, 10 and 100 ms, wake an idle process a hundred times a second. */
const INTERVALS = { eventLoopMonitoringPrecision: 50, eventLoopUtilizationTimeout: 1000 };

/** Collected once in a process, because their timers and observers have no end: a second set would outlive the gateway it was made for. */
let collected: Registry | undefined;

/** Adds CPU, memory, event loop and garbage collection to a registry. */
export function registerProcessMetrics(registry: Registry): void {
  if (collected === undefined) {
    collected = new Registry();
    collectDefaultMetrics({ register: collected, ...INTERVALS });
  }
  for (const { name } of collected.getMetricsAsArray()) {
    const metric = collected.getSingleMetric(name);
    if (metric !== undefined) registry.registerMetric(metric);
  }
}

/** Counts log lines that standard output did not accept. */
export function createLinesDropped(registry: Registry): Counter<string> {
  return registerCounter(
    registry,
    'gateway_log_lines_dropped_total',
    'Log lines dropped because standard output did not take them: its reader has stopped or is too slow.',
  );
}
