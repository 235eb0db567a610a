// Registers counters and gauges of the client library: counters that ordinary requests do not change, and gauges that are measured at each
// scrape. series.ts contains the counters and histograms of every request. Also registers metrics that the primary process of workers has,
// too.

import { Counter, collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';

export function registerCounter(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[] = [],
): Counter<string> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

interface GaugeOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: string[];
  /** How the values of several workers are combined. */
  readonly aggregator?: 'sum' | 'min' | 'max';
}

type MeasuredValue = number | readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

/** Registers a gauge. @param measure called at each scrape; returns the value, or the value of each series */
export function registerGauge(
  registry: Registry,
  { name, help, labelNames = [], aggregator = 'sum' }: GaugeOptions,
  measure: () => MeasuredValue,
): void {
  const collect = function (this: Gauge<string>) {
    const measured = measure();
    if (typeof measured === 'number') {
      this.set(measured);
      return;
    }
    this.reset();
    for (const [labels, value] of measured) this.set(labels, value);
  };
  new Gauge({ name, help, labelNames, aggregator, registers: [registry], collect });
}

/** The library's own intervals, 10 and 100 ms, wake an idle process a hundred times a second. */
const INTERVALS = { eventLoopMonitoringPrecision: 50, eventLoopUtilizationTimeout: 1000 };

/**
 * The process metrics. They are collected once in a process, because the library cannot stop their timers and observers, and a second
 * gateway in the process must not start a second set.
 */
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

/** Counts a delivered message, a failed attempt, or a message that was given up. */
export type AlertMetrics = (receiver: string, outcome: 'delivered' | 'failed' | 'given_up') => void;

export function createAlertMetrics(registry: Registry): AlertMetrics {
  const messages = registerCounter(
    registry,
    'gateway_alert_messages_total',
    'Messages about causes: delivered to a receiver, attempts that failed, and messages that were given up after a day.',
    ['receiver', 'outcome'],
  );
  return (receiver, outcome) => messages.inc({ receiver, outcome });
}
