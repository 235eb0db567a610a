// One worker as the primary sees it: a process that is started, asked, and ended, by force if it does not end in time.

import cluster from 'node:cluster';
import type { Readable } from 'node:stream';
import { ConfigError } from '../config-errors.ts';
import type { MetricSnapshot } from '../observe/aggregate.ts';
import { endChannel, followConnections } from './connections.ts';
import type { FromWorker, Ready, ToWorker, WorkerFailure, WorkerQuestion } from './messages.ts';

export type WorkerState = 'starting' | 'serving' | 'ending' | 'ended';

export interface WorkerProcess {
  /** Which of several; whoever replaces it has the same. */
  readonly number: number;
  readonly pid: number;
  state(): WorkerState;
  /** Since when it is in that state, epoch milliseconds. */
  sinceMs(): number;
  /** Resolves when it takes requests; rejects with why it does not. */
  readonly ready: Promise<Ready>;
  readonly ended: Promise<Ending>;
  /** What it writes, unless it does so by itself. */
  readonly output: Readable | undefined;
  /** Rejects when it could not answer, or did not in time. */
  ask(question: WorkerQuestion): Promise<unknown>;
  reload(): void;
  /**
   * Has it finish what it has begun, or kills it when that takes too long. Resolves when it has ended.
   *
   * @param handOver others go on listening
   */
  stop(handOver: boolean): Promise<Ending>;
  kill(): void;
}

export interface Ending {
  /** How long it took requests, milliseconds. */
  readonly servedMs: number;
  readonly code: number | null;
  readonly signal: string | null;
}

export interface StartOptions {
  readonly number: number;
  /** Whether it sees to the demo organization. */
  readonly isFirst: boolean;
  /** Base64. */
  readonly ticketKeys: string;
  /** By then it takes requests, or is killed. */
  readonly startMs: number;
  readonly answerMs: number;
  /** Whether it writes to standard output by itself. */
  readonly writesItself: boolean;
  /** What ending may take beyond what its configuration grants to draining. */
  readonly closeMs: number;
  /** Everything it has counted, told when it ends as it was asked to. */
  onFarewell(metrics: readonly MetricSnapshot[]): void;
  now(): number;
}

export function startWorkerProcess(options: StartOptions): WorkerProcess {
  const { number, now } = options;
  cluster.setupPrimary({ stdio: ['ignore', options.writesItself ? 'inherit' : 'pipe', 'inherit', 'ipc'] });
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const worker = cluster.fork();
  const giveBack = followConnections(worker);
  const ready = Promise.withResolvers<Ready>();
  const ended = Promise.withResolvers<Ending>();
  const questions = createQuestions(options.answerMs, (id, question) => tell({ kind: 'question', id, question }));
  let state: WorkerState = 'starting';
  let sinceMs = now();
  let readyAtMs: number | undefined;
  let drainMs = 0;
  const starting = setTimeout(kill, options.startMs);

  function become(next: WorkerState): void {
    state = next;
    sinceMs = now();
  }

  function tell(message: ToWorker): void {
    // One that is gone hears nothing, and that it is gone is seen elsewhere.
    if (worker.isConnected()) worker.send(message, () => undefined);
  }

  function kill(): void {
    worker.process.kill('SIGKILL');
  }

  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'here') {
      const { isFirst, ticketKeys } = options;
      tell({ kind: 'begin', worker: number, isFirst, ticketKeys });
    } else if (message.kind === 'answer') questions.answered(message.id, message.given);
    else if (message.kind === 'farewell') options.onFarewell(message.metrics);
    else if (message.kind === 'failed') ready.reject(errorOf(message));
    else {
      clearTimeout(starting);
      readyAtMs = now();
      drainMs = message.drainMs;
      become('serving');
      ready.resolve(message);
    }
  });
  // A channel that breaks belongs to a process that ends.
  worker.on('error', () => undefined);
  // Its last words may be read after it has ended, but not after its channel has.
  const exited = Promise.withResolvers<Pick<Ending, 'code' | 'signal'>>();
  const silent = Promise.withResolvers<void>();
  worker.once('exit', (code: number | null, signal: string | null) => {
    exited.resolve({ code, signal });
    endChannel(worker, silent.promise);
  });
  worker.once('disconnect', silent.resolve);
  void Promise.all([exited.promise, silent.promise]).then(([{ code, signal }]) => {
    clearTimeout(starting);
    giveBack();
    become('ended');
    ready.reject(new Error(`Worker ${number} ended before it was ready (${signal ?? `code ${code}`}).`));
    questions.giveUp();
    ended.resolve({ servedMs: readyAtMs === undefined ? 0 : now() - readyAtMs, code, signal });
  });
  // Whoever waits for it is told; nobody has to.
  ready.promise.catch(() => undefined);

  return {
    number,
    pid: worker.process.pid as number,
    state: () => state,
    sinceMs: () => sinceMs,
    ready: ready.promise,
    ended: ended.promise,
    output: worker.process.stdout ?? undefined,
    ask: questions.ask,
    reload: () => tell({ kind: 'reload' }),
    async stop(handOver) {
      become('ending');
      tell({ kind: 'stop', handOver });
      const deadline = setTimeout(kill, drainMs + options.closeMs);
      const ending = await ended.promise;
      clearTimeout(deadline);
      return ending;
    },
    kill,
  };
}

function errorOf({ message, mistakes }: WorkerFailure): Error {
  return mistakes === undefined ? new Error(message) : new ConfigError(mistakes);
}

/** Matches answers with questions, and waits for none for ever. */
function createQuestions(answerMs: number, send: (id: number, question: WorkerQuestion) => void) {
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  return {
    async ask(question: WorkerQuestion): Promise<unknown> {
      last += 1;
      const id = last;
      const asked = Promise.withResolvers<unknown>();
      const overdue = setTimeout(() => asked.reject(new Error('no answer in time')), answerMs);
      open.set(id, asked);
      send(id, question);
      try {
        return await asked.promise;
      } finally {
        clearTimeout(overdue);
        open.delete(id);
      }
    },
    answered(id: number, given: { readonly value?: unknown } | undefined): void {
      if (given === undefined) open.get(id)?.reject(new Error('it could not be answered'));
      else open.get(id)?.resolve(given.value);
    },
    giveUp(): void {
      for (const { reject } of open.values()) reject(new Error('the worker has ended'));
    },
  };
}
