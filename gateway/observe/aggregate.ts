// Pure: combines the measurements of several workers into the metrics of one gateway. Each metric declares its aggregation: sum, minimum or
// maximum. Metrics of a process stay separate, by the label `worker`.

import { Registry } from '@prometheus-io/client';

export interface MetricSnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator?: string;
  readonly values: readonly MetricSample[];
}

interface MetricSample {
  /** The value; JSON makes null of NaN. */
  readonly value: number | null;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly metricName?: string;
}

const OF_A_PROCESS = /^(process|nodejs)_/;

/** Returns a registry that renders the combined metrics. */
export function aggregated(snapshots: readonly (readonly MetricSnapshot[])[]): Registry {
  return Registry.aggregate(snapshots as unknown as object[]);
}

/** Adds the worker label to process metrics, so that they are not summed with those of others. Leaves out values that are not numbers. */
export function labelled(snapshot: readonly MetricSnapshot[], worker: string): MetricSnapshot[] {
  return snapshot.map((metric) => {
    const values = metric.values.filter(({ value }) => value !== null && !Number.isNaN(value));
    if (!OF_A_PROCESS.test(metric.name)) return { ...metric, values };
    const ofWorker = values.map((sample) => ({ ...sample, labels: { ...sample.labels, worker } }));
    return { ...metric, values: ofWorker, aggregator: 'first' };
  });
}

/** Returns the values that stay valid after the worker has ended: all counters and histograms but those of the process. */
export function lasting(snapshot: readonly MetricSnapshot[]): MetricSnapshot[] {
  return snapshot.filter(({ name, type }) => (type === 'counter' || type === 'histogram') && !OF_A_PROCESS.test(name));
}
