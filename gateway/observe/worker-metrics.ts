// The metrics of a gateway with several workers. A worker that ends takes nothing back: a sum that falls would look like a gateway that
// started anew, and every rate over it would be wrong.

import { Counter, collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import { aggregated, labelled, lasting, type MetricSnapshot } from './aggregate.ts';
import { createLinesDropped } from './lines-dropped.ts';

export interface WorkerMetrics {
  /** A worker died and had to be replaced. */
  restarted(): void;
  /** Standard output did not take lines of this process in time. */
  logLinesDropped(lines: number): void;
  /** For one process that serves. */
  of(worker: number): MetricsOfWorker;
  readonly contentType: string;
  /** Of all workers as they were last noted, of those that have ended, and of the process that holds them. */
  text(): Promise<string>;
}

export interface MetricsOfWorker {
  /** What it has measured by now. */
  note(snapshot: readonly MetricSnapshot[]): void;
  /** What was noted last stays counted. */
  end(): Promise<void>;
}

/** @param serving how many workers take requests right now */
export function createWorkerMetrics(serving: () => number): WorkerMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const restarts = new Counter({
    name: 'gateway_worker_restarts_total',
    help: 'Workers that ended without being asked to, and were replaced.',
    registers: [registry],
  });
  const linesDropped = createLinesDropped(registry);
  new Gauge({
    name: 'gateway_workers_serving',
    help: 'Workers that take requests.',
    registers: [registry],
    collect() {
      this.set(serving());
    },
  });
  const latest = new Map<MetricsOfWorker, readonly MetricSnapshot[]>();
  let ended: readonly MetricSnapshot[] = [];
  let adding = Promise.resolve();

  /** One after the other: each sum is made of the one before. */
  function addToEnded(snapshot: readonly MetricSnapshot[]): Promise<void> {
    adding = adding.then(async () => {
      ended = await aggregated([ended, lasting(snapshot)]).getMetricsAsJSON();
    });
    return adding;
  }

  return {
    restarted: () => restarts.inc(),
    logLinesDropped: (lines) => linesDropped.inc(lines),
    of(worker) {
      const metrics: MetricsOfWorker = {
        note(snapshot) {
          if (latest.has(metrics)) latest.set(metrics, labelled(snapshot, String(worker)));
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
      const own = labelled(await registry.getMetricsAsJSON(), 'primary');
      return aggregated([...latest.values(), ended, own]).metrics();
    },
  };
}
