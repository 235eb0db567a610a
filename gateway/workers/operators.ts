// What operators are told of a gateway with several workers: each question goes to those who know, and what they say becomes one answer.

import type { Sample } from '../console/sample.ts';
import type { Answers } from '../observe/admin.ts';
import type { MetricSnapshot } from '../observe/aggregate.ts';
import type { MetricsOfWorker, WorkerMetrics } from '../observe/worker-metrics.ts';
import type { WorkerQuestion } from './messages.ts';
import type { WorkerProcess } from './process.ts';
import type { WorkerPool } from './worker-pool.ts';

export interface WorkersOperatorsOptions {
  readonly crew: Pick<WorkerPool, 'processes' | 'places'>;
  readonly metrics: WorkerMetrics;
  metricsOf(worker: WorkerProcess): MetricsOfWorker | undefined;
  /** Whether the gateway as a whole is about to end. */
  isEnding(): boolean;
}

interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

interface Status {
  readonly configuration: { readonly version: string };
}

export interface WorkersOperators extends Answers {
  /** What each worker has counted by now. */
  samples(): Promise<Said<Sample>>;
}

/** Undefined: no answer in time. */
type Said<T> = ReadonlyMap<WorkerProcess, T | undefined>;

/** Of several words for the same thing, those that are worth a look. */
const BAD_STATES = ['failing', 'away'];

/** Answers for all workers; `limits` and most of the status are what one of them says, since they share them. */
export function createWorkersOperators(options: WorkersOperatorsOptions): WorkersOperators {
  const { crew, metrics, metricsOf, isEnding } = options;
  const serving = () => crew.processes().filter((worker) => worker.state() === 'serving');

  async function askAll<T>(question: WorkerQuestion): Promise<Said<T>> {
    const ask = async (worker: WorkerProcess) =>
      [worker, (await worker.ask(question).catch(() => undefined)) as T | undefined] as const;
    return new Map(await Promise.all(serving().map(ask)));
  }

  /** Rejects when nobody can answer. */
  async function askOne(question: WorkerQuestion): Promise<object | undefined> {
    let failure: unknown = new Error('no worker serves');
    for (const worker of serving()) {
      try {
        return (await worker.ask(question)) as object | undefined;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  function stateOf(worker: WorkerProcess, said: Said<unknown>): string {
    return said.has(worker) && said.get(worker) === undefined ? 'silent' : worker.state();
  }

  /** Ready when somebody takes requests: then none is refused. Who does not answer in time is as good as nobody. */
  async function readiness(): Promise<Readiness> {
    const said = await askAll<Readiness>({ about: 'readiness' });
    const answers = [...said.values()].filter((answer) => answer !== undefined);
    const ready = !isEnding() && answers.some((answer) => answer.ready);
    const lifecycle = isEnding() ? 'ending' : ready ? 'serving' : 'unavailable';
    const waiting = crew.places().map(({ number }) => [`worker ${number}`, 'waiting']);
    const here = crew.processes().map((worker) => [`worker ${worker.number}`, stateOf(worker, said)]);
    const checks = worstOf(answers.map((answer) => answer.checks));
    return { ready, checks: { ...checks, lifecycle, ...Object.fromEntries([...waiting, ...here]) } };
  }

  async function status(): Promise<object> {
    const said = await askAll<Status>({ about: 'status' });
    const ofOne = [...said.values()].find((answer) => answer !== undefined);
    const workers = crew.places().flatMap(({ number, restarts, waitsUntilMs }): object[] => {
      const here = crew.processes().filter((worker) => worker.number === number);
      if (here.length === 0) {
        const startsAt = waitsUntilMs === undefined ? null : timeOf(waitsUntilMs);
        return [{ worker: number, pid: null, state: 'waiting', starts_at: startsAt, restarts }];
      }
      return here.map((worker) => ({
        worker: number,
        pid: worker.pid,
        state: stateOf(worker, said),
        since: timeOf(worker.sinceMs()),
        restarts,
        configuration: said.get(worker)?.configuration.version ?? null,
      }));
    });
    return { ...ofOne, workers };
  }

  async function metricsText(): Promise<string> {
    for (const [worker, snapshot] of await askAll<MetricSnapshot[]>({ about: 'metrics' })) {
      // Of whoever is silent, what it said last still counts.
      if (snapshot !== undefined) metricsOf(worker)?.note(snapshot);
    }
    return metrics.text();
  }

  return {
    metrics: { contentType: metrics.contentType, text: metricsText },
    readiness,
    status,
    samples: () => askAll({ about: 'sample' }),
    versions: async () => (await askOne({ about: 'versions' })) ?? {},
    async exchanges(id) {
      const said = await askAll<readonly object[]>({ about: 'exchanges', id });
      return [...said.values()].flatMap((found) => found ?? []);
    },
    limits: {
      show: (organization) => askOne({ about: 'limits', organization }),
      reset: (organization, by) => askOne({ about: 'limits reset', organization, by }),
    },
  };
}

/** Checks of several as those of one. */
function worstOf(all: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const checks: Record<string, string> = {};
  for (const [name, state] of all.flatMap((one) => Object.entries(one))) {
    if (checks[name] === undefined || BAD_STATES.includes(state)) checks[name] = state;
  }
  return checks;
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
