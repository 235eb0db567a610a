// Combines the metrics of several workers. Each metric declares its aggregation: sum, minimum or maximum. Metrics of a process stay
// separate, by the label `worker`. The counts of an ended worker are kept, because a falling sum would look like a restarted gateway, and
// every rate over it would be wrong.

import { Registry } from '@prometheus-io/client';
import {
  type AlertMetrics,
  createAlertMetrics,
  createLinesDropped,
  registerCounter,
  registerGauge,
  registerProcessMetrics,
} from './library-metrics.ts';

export interface WorkerMetrics {
  /** Counts a worker that died and was replaced. */
  restarted(): void;
  /** Counts lines of this process that standard output did not accept in time. */
  logLinesDropped(lines: number): void;
  readonly alerts: AlertMetrics;
  /** Returns the metrics of one serving process. */
  of(worker: number): MetricsOfWorker;
  readonly contentType: string;
  /** Returns the text of all metrics of the running workers, of the ended workers, and of the primary process. */
  text(): Promise<string>;
}

export interface MetricsOfWorker {
  /** Replaces the snapshot of the worker. */
  note(snapshot: readonly MetricSnapshot[]): void;
  /** Keeps the counts of the last snapshot. */
  end(): Promise<void>;
}

/** Creates the metrics of all workers. @param serving returns the number of workers that accept requests */
export function createWorkerMetrics(serving: () => number, registry = new Registry()): WorkerMetrics {
  registerProcessMetrics(registry);
  const restarts = registerCounter(
    registry,
    'gateway_worker_restarts_total',
    'Workers that died and were replaced. Only with WORKERS above 1.',
  );
  const linesDropped = createLinesDropped(registry);
  registerGauge(
    registry,
    { name: 'gateway_workers_serving', help: 'Workers that accept requests. Only with WORKERS above 1.' },
    serving,
  );
  const alerts = createAlertMetrics(registry);
  const latest = new Map<MetricsOfWorker, readonly MetricSnapshot[]>();
  let ended: readonly MetricSnapshot[] = [];
  let adding = Promise.resolve();

  /** Adds the metrics of an ended worker. Calls run in sequence, because each adds to the sum of the previous call. */
  function addToEnded(snapshot: readonly MetricSnapshot[]): Promise<void> {
    adding = adding.then(async () => {
      ended = await aggregate([ended, lasting(snapshot)]).getMetricsAsJSON();
    });
    return adding;
  }

  return {
    alerts,
    restarted: () => restarts.inc(),
    logLinesDropped: (lines) => linesDropped.inc(lines),
    of(worker) {
      const metrics: MetricsOfWorker = {
        note(snapshot) {
          if (latest.has(metrics)) latest.set(metrics, labelWorker(snapshot, String(worker)));
        },
        async end() {
          const last = latest.get(metrics) ?? [];
          latest.delete(metrics);
          await addToEnded(last);
        },
      };
      latest.set(metrics, []);
      return metrics;
    },
    contentType: registry.contentType,
    async text() {
      await adding;
      const own = labelWorker(await registry.getMetricsAsJSON(), 'primary');
      return aggregate([...latest.values(), ended, own]).metrics();
    },
  };
}

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
function aggregate(snapshots: readonly (readonly MetricSnapshot[])[]): Registry {
  return Registry.aggregate(snapshots as unknown as object[]);
}

/** Adds the label `worker` to process metrics, which must not be summed up. Leaves out values that are not numbers. */
function labelWorker(snapshot: readonly MetricSnapshot[], worker: string): MetricSnapshot[] {
  return snapshot.map((metric) => {
    const values = metric.values.filter(({ value }) => value !== null && !Number.isNaN(value));
    if (!OF_A_PROCESS.test(metric.name)) return { ...metric, values };
    const ofWorker = values.map((sample) => ({ ...sample, labels: { ...sample.labels, worker } }));
    return { ...metric, values: ofWorker, aggregator: 'first' };
  });
}

/** Returns the metrics that stay valid after the worker has ended: all counters and histograms, except process metrics. */
function lasting(snapshot: readonly MetricSnapshot[]): MetricSnapshot[] {
  return snapshot.filter(({ name, type }) => (type === 'counter' || type === 'histogram') && !OF_A_PROCESS.test(name));
}
