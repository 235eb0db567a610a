// Pure: what several workers have measured, as the metrics of one gateway. Each metric says itself what it is over several: a sum, the
// least or the greatest. What is measured of a process stays apart, by the label `worker`.

import { Registry } from '@prometheus-io/client';

export interface MetricSnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator?: string;
  readonly values: readonly MetricSample[];
}

interface MetricSample {
  /** Null: it was not a number, and has been through JSON. */
  readonly value: number | null;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly metricName?: string;
}

const OF_A_PROCESS = /^(process|nodejs)_/;

/** The registry renders it. */
export function aggregated(snapshots: readonly (readonly MetricSnapshot[])[]): Registry {
  return Registry.aggregate(snapshots as unknown as object[]);
}

/** What is about the process gets its label, and is not summed up with that of others. What is not a number is left out. */
export function labelled(snapshot: readonly MetricSnapshot[], worker: string): MetricSnapshot[] {
  return snapshot.map((metric) => {
    const values = metric.values.filter(({ value }) => value !== null && !Number.isNaN(value));
    if (!OF_A_PROCESS.test(metric.name)) return { ...metric, values };
    const ofWorker = values.map((sample) => ({ ...sample, labels: { ...sample.labels, worker } }));
    return { ...metric, values: ofWorker, aggregator: 'first' };
  });
}

/** What stays true when its worker has ended: everything that was counted, other than of the process. */
export function lasting(snapshot: readonly MetricSnapshot[]): MetricSnapshot[] {
  return snapshot.filter(({ name, type }) => (type === 'counter' || type === 'histogram') && !OF_A_PROCESS.test(name));
}
