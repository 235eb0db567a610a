// One worker process, seen from the primary, which starts it, asks it, and ends it, by force if it does not end in time.

import cluster from 'node:cluster';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { MetricsOfWorker } from '../observe/metrics/worker-metrics.ts';
import { ConfigError } from '../shared/mistakes.ts';
import type { AskFleet } from '../shared/questions/fleet.ts';
import { endChannel, followConnections } from './connections.ts';
import type { Gap } from './gap.ts';
import type { FromWorker, Ready, ToWorker, WorkerFailure, WorkerQuestion } from './messages.ts';
import { createQuestions, replyTo } from './questions.ts';

type WorkerState = 'starting' | 'serving' | 'ending' | 'ended';

export interface WorkerProcess {
  /** The number of the worker, which its successor inherits. */
  readonly number: number;
  readonly pid: number;
  state(): WorkerState;
  /** Begin of the current state, epoch milliseconds. */
  sinceMs(): number;
  /** Resolves when the worker takes requests; rejects with the reason if it fails to start. */
  readonly ready: Promise<Ready>;
  readonly ended: Promise<Ending>;
  /** The standard output of the worker; undefined if it is the standard output of the primary. */
  readonly output: Readable | undefined;
  readonly metrics: MetricsOfWorker;
  /**
   * Rejects if the worker fails to answer, or does not answer in time.
   *
   * @param withinMs in place of a second
   */
  ask(question: WorkerQuestion, withinMs?: number): Promise<unknown>;
  reload(): void;
  /**
   * Drains the worker, and kills it after its deadline. Resolves when it has ended.
   *
   * @param handOver whether other workers continue to listen
   */
  stop(handOver: boolean): Promise<Ending>;
  kill(): void;
}

export interface Ending {
  /** Milliseconds from taking requests to the end; 0 if the worker never took requests. */
  readonly servedMs: number;
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker that does not take requests within this time is killed. The time is many times the start of a gateway with a large contract. */
const START_MS = 60_000;
/** The longest wait for a worker's answer. It is short, because an operator waits for the answer. */
const ANSWER_MS = 1000;
/** The time for closing connections to Redis and to upstreams, in addition to the time for draining. */
const CLOSE_MS = 3000;

export interface StartOptions {
  readonly number: number;
  /** Whether it prepares the demo organization. */
  readonly isFirst: boolean;
  /** TLS session ticket keys in base64. */
  readonly ticketKeys: string;
  /** Whether it writes to standard output by itself. */
  readonly writesItself: boolean;
  /** Listens while no worker does. */
  readonly gap: Gap;
  /** Answers a question of the worker. */
  readonly askFleet: AskFleet;
  readonly metrics: MetricsOfWorker;
  now(): number;
}

export function startWorkerProcess(options: StartOptions): WorkerProcess {
  const { number, metrics, now } = options;
  cluster.setupPrimary({ stdio: ['ignore', options.writesItself ? 'inherit' : 'pipe', 'inherit', 'ipc'] });
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const worker = cluster.fork();
  const returnConnections = followConnections(worker, options.gap);
  const ready = Promise.withResolvers<Ready>();
  const ended = Promise.withResolvers<Ending>();
  const questions = createQuestions<WorkerQuestion>(ANSWER_MS, (id, question) =>
    send({ kind: 'question', id, question }),
  );
  let state: WorkerState = 'starting';
  let sinceMs = now();
  let readyAtMs: number | undefined;
  let drainMs = 0;
  const starting = setTimeout(kill, START_MS);

  function setState(next: WorkerState): void {
    state = next;
    sinceMs = now();
  }

  function send(message: ToWorker): void {
    // A worker that has ended gets no message; `exit` and `disconnect` report its end.
    if (worker.isConnected()) worker.send(message, () => undefined);
  }

  function give(socket: Socket, port: number): void {
    const message: ToWorker = { kind: 'connection', port };
    worker.send(message, socket, { keepOpen: false }, () => undefined);
  }

  function kill(): void {
    worker.process.kill('SIGKILL');
  }

  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'here') {
      const { isFirst, ticketKeys } = options;
      send({ kind: 'begin', worker: number, isFirst, ticketKeys, answersQuestions: true });
    } else if (message.kind === 'answer') questions.takeReply(message);
    else if (message.kind === 'question') void replyTo(message.id, () => options.askFleet(message.question)).then(send);
    else if (message.kind === 'farewell') metrics.note(message.metrics);
    else if (message.kind === 'failed') ready.reject(errorOf(message));
    else if (message.kind === 'ready') {
      clearTimeout(starting);
      readyAtMs = now();
      drainMs = message.drainMs;
      setState('serving');
      ready.resolve(message);
      options.gap.end(give);
    }
  });
  // The channel breaks when the process ends.
  worker.on('error', () => undefined);
  // Its last messages may arrive after its exit, but not after the end of its channel.
  const exited = Promise.withResolvers<Pick<Ending, 'code' | 'signal'>>();
  const disconnected = Promise.withResolvers<void>();
  worker.once('exit', (code: number | null, signal: string | null) => {
    exited.resolve({ code, signal });
    endChannel(worker, disconnected.promise);
  });
  worker.once('disconnect', () => {
    disconnected.resolve();
    options.gap.begin(worker.id);
  });
  void Promise.all([exited.promise, disconnected.promise]).then(([{ code, signal }]) => {
    clearTimeout(starting);
    returnConnections();
    setState('ended');
    ready.reject(new Error(`Worker ${number} ended before it was ready (${signal ?? `code ${code}`}).`));
    questions.giveUp();
    ended.resolve({ servedMs: readyAtMs === undefined ? 0 : now() - readyAtMs, code, signal });
  });
  void ended.promise.then(metrics.end);
  // Avoids an unhandled rejection if no caller waits for `ready`.
  ready.promise.catch(() => undefined);

  return {
    number,
    pid: worker.process.pid as number,
    state: () => state,
    sinceMs: () => sinceMs,
    ready: ready.promise,
    ended: ended.promise,
    output: worker.process.stdout ?? undefined,
    metrics,
    ask: questions.ask,
    reload: () => send({ kind: 'reload' }),
    async stop(handOver) {
      setState('ending');
      send({ kind: 'stop', handOver });
      const deadline = setTimeout(kill, drainMs + CLOSE_MS);
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
