// Answers operators for a gateway with several workers. Asks the workers concerned and merges their answers.

import type { Sample } from '../console/history/sample.ts';
import type { Answers } from '../observe/admin/answers.ts';
import type { MetricSnapshot, WorkerMetrics } from '../observe/metrics/worker-metrics.ts';
import type { ActionAnswer } from '../shared/questions/console-action.ts';
import { exchangesIn, PATIENCE_MS, retryIn, type UpstreamRetry } from '../shared/questions/fleet.ts';
import { isoTime } from '../shared/text.ts';
import type { WriterStatus } from '../usage/writer.ts';
import type { WorkerQuestion } from './messages.ts';
import type { WorkerProcess } from './process.ts';
import type { WorkerPool, WorkerStatus } from './worker-pool.ts';
import { type OverloadReport, type WorkerUpstream, worstOverload, worstUpstreams } from './worst-of.ts';

type Workers = Pick<WorkerPool, 'processes' | 'places'>;

interface WorkersOperatorsOptions {
  readonly pool: Workers;
  readonly metrics: WorkerMetrics;
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  /** Whether the whole gateway is ending. */
  isEnding(): boolean;
}

interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

interface Status {
  readonly configuration: { readonly version: string; readonly loaded_at: string };
  readonly usage: WriterStatus;
  readonly upstreams?: Readonly<Record<string, WorkerUpstream>>;
  readonly overload?: OverloadReport;
}

interface WorkersOperators extends Answers {
  /** Returns the current counts of each worker. */
  samples(): Promise<Replies<Sample>>;
}

/** The reply of each worker; undefined if it did not answer in time. */
type Replies<T> = ReadonlyMap<WorkerProcess, T | undefined>;

/** The time for an action. It is long, because the store of an action has its own deadline, and the operator has to learn the outcome. */
const ACTION_MS = 7000;

/** States that have priority when workers report different states. */
const BAD_STATES = ['failing', 'away'];

/**
 * Answers operators for all workers. One worker answers for the state that all share, such as limits. For states that each worker
 * determines separately, the answer is the worst state.
 */
export function createWorkersOperators({
  pool,
  metrics,
  startedAtMs,
  isEnding,
}: WorkersOperatorsOptions): WorkersOperators {
  const { askAll, askOne, askFirst } = createAsking(pool);

  async function metricsText(): Promise<string> {
    for (const [worker, snapshot] of await askAll<MetricSnapshot[]>({ about: 'metrics' })) {
      // A silent worker keeps its last snapshot.
      if (snapshot !== undefined) worker.metrics.note(snapshot);
    }
    return metrics.text();
  }

  return {
    metrics: { contentType: metrics.contentType, text: metricsText },
    readiness: async () => readinessOf(pool, await askAll({ about: 'readiness' }), isEnding()),
    status: async () => ({
      ...statusOf(pool, await askAll({ about: 'status' }), isEnding()),
      started_at: isoTime(startedAtMs),
    }),
    samples: () => askAll({ about: 'sample' }),
    alertsInForce: async () => (await askOne({ about: 'alerts' })) ?? {},
    versions: async () => (await askOne({ about: 'versions' })) ?? {},
    act: async (action, requestId, by) => (await askFirst({ about: 'action', action, requestId, by })) as ActionAnswer,
    inForce: async () => (await askOne({ about: 'in force' })) ?? {},
    async retryCredential(upstream) {
      const replies = await askAll({ about: 'upstream retry', upstream });
      return retryIn([...replies.values()]);
    },
    async refusedUpstream(upstream) {
      const replies = await askAll({ about: 'upstream refused', upstream });
      return retryIn([...replies.values()]);
    },
    async exchanges(id, owner) {
      const replies = await askAll({ about: 'exchange', id, ...owner });
      return exchangesIn([...replies.values()]);
    },
    async recent(filter) {
      const replies = await askAll({ about: 'recent', filter });
      return exchangesIn([...replies.values()]).slice(0, filter.limit);
    },
    view: async (view) => (await askOne({ about: 'view', view })) ?? {},
    findOrganizations: async (text) => (await askOne({ about: 'find organizations', text })) ?? {},
    organization: (organization) => askOne({ about: 'organization', organization }),
    limits: {
      show: (organization) => askOne({ about: 'limits', organization }),
      reset: async (organization, author) =>
        (await askFirst({ about: 'limits reset', organization, ...author })) as object | undefined,
    },
    retry: async (upstream, author) =>
      (await askFirst({ about: 'retry', upstream, ...author })) as UpstreamRetry | undefined,
  };
}

/** Returns the functions that ask the workers that serve. Of these, a question to one worker goes to late workers last. */
function createAsking(pool: Workers) {
  const serving = () => pool.processes().filter((worker) => worker.state() === 'serving');

  /** Asks the workers at the same time. A late worker is asked, too, because its answer shows that it goes on. */
  async function askAll<T>(question: WorkerQuestion): Promise<Replies<T>> {
    const patienceOf = (worker: WorkerProcess) => (worker.isLate() ? PATIENCE_MS.lateWorker : PATIENCE_MS.worker);
    const ask = async (worker: WorkerProcess) =>
      [worker, (await worker.ask(question, patienceOf(worker)).catch(() => undefined)) as T | undefined] as const;
    return new Map(await Promise.all(serving().map(ask)));
  }

  const byLateness = () => serving().sort((one, other) => Number(one.isLate()) - Number(other.isLate()));

  /** Asks the workers in turn until one answers. Rejects with the last error. */
  async function askOne(question: WorkerQuestion): Promise<object | undefined> {
    let failure: unknown = new Error('no worker serves');
    for (const worker of byLateness()) {
      try {
        return (await worker.ask(question)) as object | undefined;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  /** Lets one worker act. If it fails, no other worker acts, because the action may have taken effect. */
  async function askFirst(question: WorkerQuestion): Promise<unknown> {
    const [worker] = byLateness();
    if (worker === undefined) throw new Error('no worker serves');
    return worker.ask(question, ACTION_MS);
  }

  return { askAll, askOne, askFirst };
}

/** Returns ready if at least one worker takes requests, because no request is refused then. A worker that answers late is ignored. */
function readinessOf(pool: Workers, replies: Replies<Readiness>, isEnding: boolean): Readiness {
  const answers = answersIn(replies);
  const ready = !isEnding && answers.some((answer) => answer.ready);
  const lifecycle = isEnding ? 'ending' : ready ? 'serving' : 'unavailable';
  const waiting = pool.places().map((place) => [`worker ${place.number}`, stateOfEmpty(place, isEnding)]);
  const here = pool.processes().map((worker) => [`worker ${worker.number}`, stateOf(worker, replies)]);
  const checks = worstOf(answers.map((answer) => answer.checks));
  return { ready, checks: { ...checks, lifecycle, ...Object.fromEntries([...waiting, ...here]) } };
}

function statusOf(pool: Workers, replies: Replies<Status>, isEnding: boolean): object {
  const answers = answersIn(replies);
  const [anyStatus] = answers;
  const usage = answers.flatMap((answer) => answer.usage ?? []);
  return {
    ...anyStatus,
    ...(anyStatus && { configuration: firstLoaded(anyStatus.configuration, answers) }),
    upstreams: worstUpstreams(answers.map(({ upstreams = {} }) => upstreams)),
    overload: worstOverload(answers.flatMap(({ overload }) => overload ?? [])),
    usage: usageOfAll(usage),
    workers: pool.places().flatMap((place) => workersIn(place, pool, replies, isEnding)),
  };
}

/**
 * Returns the report of the worker that loaded this version first, because a worker that replaces another one loads it once more, which
 * changes nothing.
 */
function firstLoaded(configuration: Status['configuration'], answers: readonly Status[]): Status['configuration'] {
  const same = answers.map((answer) => answer.configuration).filter(({ version }) => version === configuration.version);
  return same.sort((one, other) => one.loaded_at.localeCompare(other.loaded_at))[0] ?? configuration;
}

/** Returns the rows of a place: of its worker, of the successor too while both run, or of the next start. */
function workersIn(place: WorkerStatus, pool: Workers, replies: Replies<Status>, isEnding: boolean): object[] {
  const { number, restarts, waitsUntilMs } = place;
  const died = deathOf(place);
  const here = pool.processes().filter((worker) => worker.number === number);
  if (here.length === 0) {
    const startsAt = isoTime(waitsUntilMs) ?? null;
    return [
      { worker: number, pid: null, state: stateOfEmpty(place, isEnding), starts_at: startsAt, restarts, ...died },
    ];
  }
  return here.map((worker) => {
    const state = stateOf(worker, replies);
    return {
      worker: number,
      pid: worker.pid,
      state,
      since: isoTime(state === 'silent' ? worker.heardAtMs() : worker.sinceMs()),
      restarts,
      configuration: replies.get(worker)?.configuration.version ?? null,
      ...died,
    };
  });
}

function deathOf({ death }: WorkerStatus): object {
  if (death === undefined) return {};
  const { pid, atMs, code, signal } = death;
  return { last_death: { at: isoTime(atMs), pid, code, signal } };
}

/** Returns the state of a place without a process. The places after the first one are filled when the first worker serves. */
function stateOfEmpty({ waitsUntilMs }: WorkerStatus, isEnding: boolean): string {
  if (isEnding) return 'ended';
  return waitsUntilMs === undefined ? 'starting' : 'waiting';
}

function answersIn<T>(replies: Replies<T>): T[] {
  return [...replies.values()].filter((answer) => answer !== undefined);
}

/** Returns the state of a worker, which may have begun to end after it was asked. */
function stateOf(worker: WorkerProcess, replies: Replies<unknown>): string {
  const isSilent = worker.state() === 'serving' && replies.has(worker) && replies.get(worker) === undefined;
  return isSilent ? 'silent' : worker.state();
}

/** Combines the checks of several workers into the worst state of each. */
function worstOf(all: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const checks: Record<string, string> = {};
  for (const [name, state] of all.flatMap((one) => Object.entries(one))) {
    if (checks[name] === undefined || BAD_STATES.includes(state)) checks[name] = state;
  }
  return checks;
}

/** Combines the states of the usage writers of all workers. */
function usageOfAll(all: readonly WriterStatus[]): object {
  const sumOf = (name: 'waiting' | 'folded' | 'lost') => all.reduce((sum, one) => sum + one[name], 0);
  const states = all.map(({ state }) => state);
  const [away] = all
    .filter(({ state }) => state === 'away')
    .sort((one, other) => Number(one.since) - Number(other.since));
  const completeUntilAtMs = all.flatMap((one) => one.completeUntilAtMs ?? []).sort((one, other) => one - other)[0];
  return {
    state: (['away', 'up'] as const).find((state) => states.includes(state)) ?? 'unused',
    ...(away && { reason: away.reason, since: away.since, since_at: isoTime(away.since) }),
    waiting: sumOf('waiting'),
    folded: sumOf('folded'),
    lost: sumOf('lost'),
    ...(completeUntilAtMs !== undefined && { completeUntilAtMs, complete_until_at: isoTime(completeUntilAtMs) }),
  };
}
