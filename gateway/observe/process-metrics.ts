// The metrics of the process: CPU, memory, event loop, garbage collection. They are collected once in a process, because their timers and
// observers have no end: a second set would cost as much again, and would outlive the gateway it was made for.

import { collectDefaultMetrics, Registry } from '@prometheus-io/client';

/** The library's own intervals, 10 and 100 ms, wake an idle process a hundred times a second. */
const INTERVALS = { eventLoopMonitoringPrecision: 50, eventLoopUtilizationTimeout: 1000 };

let collected: Registry | undefined;

/** Adds them to a registry. */
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
