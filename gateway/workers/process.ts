// One worker process, seen from the primary, which starts it, asks it, and ends it, by force if it does not end in time.

import cluster, { type Worker } from 'node:cluster';
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
  /** The time of the last message of the worker, epoch milliseconds; the time of its start before the first message. */
  heardAtMs(): number;
  /** Resolves when the worker takes requests; rejects with the reason if it fails to start. */
  readonly ready: Promise<Ready>;
  readonly ended: Promise<WorkerEnd>;
  /** The standard output of the worker; undefined if it is the standard output of the primary. */
  readonly output: Readable | undefined;
  readonly metrics: MetricsOfWorker;
  /** Whether a question got no answer in time, and the worker has sent no message since it was asked. */
  isLate(): boolean;
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
  stop(handOver: boolean): Promise<WorkerEnd>;
  kill(): void;
}

export interface WorkerEnd {
  /** Milliseconds from taking requests to the end; 0 if the worker never took requests. */
  readonly servedMs: number;
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker that does not take requests within this time is killed. The time is many times the start of a gateway with a large contract. */
const START_MS = 60_000;
/** The longest wait for the answer of one worker. It is short, because an operator waits for the answer. */
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

/** Starts a worker process. */
export class ForkedWorker implements WorkerProcess {
  readonly number: number;
  readonly metrics: MetricsOfWorker;
  readonly #options: StartOptions;
  readonly #worker: Worker;
  readonly #questions: ReturnType<typeof createQuestions<WorkerQuestion>>;
  readonly #ready = Promise.withResolvers<Ready>();
  readonly #ended = Promise.withResolvers<WorkerEnd>();
  readonly #starting: NodeJS.Timeout;
  #state: WorkerState = 'starting';
  #sinceMs: number;
  #heardAtMs: number;
  /** Number of messages of the worker. */
  #heard = 0;
  #isLate = false;
  #readyAtMs: number | undefined;
  #drainMs = 0;

  constructor(options: StartOptions) {
    this.#options = options;
    this.number = options.number;
    this.metrics = options.metrics;
    cluster.setupPrimary({ stdio: ['ignore', options.writesItself ? 'inherit' : 'pipe', 'inherit', 'ipc'] });
    cluster.schedulingPolicy = cluster.SCHED_RR;
    this.#worker = cluster.fork();
    this.#questions = createQuestions<WorkerQuestion>(ANSWER_MS, (id, question) =>
      this.#send({ kind: 'question', id, question }),
    );
    this.#sinceMs = options.now();
    this.#heardAtMs = this.#sinceMs;
    this.#starting = setTimeout(() => this.kill(), START_MS);
    this.#worker.on('message', (message: FromWorker) => this.#take(message));
    this.#followEnd(followConnections(this.#worker, options.gap));
  }

  get pid(): number {
    return this.#worker.process.pid as number;
  }

  get ready(): Promise<Ready> {
    return this.#ready.promise;
  }

  get ended(): Promise<WorkerEnd> {
    return this.#ended.promise;
  }

  get output(): Readable | undefined {
    return this.#worker.process.stdout ?? undefined;
  }

  state(): WorkerState {
    return this.#state;
  }

  sinceMs(): number {
    return this.#sinceMs;
  }

  heardAtMs(): number {
    return this.#heardAtMs;
  }

  isLate(): boolean {
    return this.#isLate;
  }

  async ask(question: WorkerQuestion, withinMs?: number): Promise<unknown> {
    const heard = this.#heard;
    try {
      return await this.#questions.ask(question, withinMs);
    } catch (error) {
      if (this.#heard === heard) this.#isLate = true;
      throw error;
    }
  }

  reload(): void {
    this.#send({ kind: 'reload' });
  }

  async stop(handOver: boolean): Promise<WorkerEnd> {
    this.#setState('ending');
    this.#send({ kind: 'stop', handOver });
    const deadline = setTimeout(() => this.kill(), this.#drainMs + CLOSE_MS);
    const ending = await this.#ended.promise;
    clearTimeout(deadline);
    return ending;
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  #take(message: FromWorker): void {
    const { isFirst, ticketKeys, askFleet, gap, now } = this.#options;
    this.#heardAtMs = now();
    this.#heard += 1;
    this.#isLate = false;
    if (message.kind === 'here') {
      this.#send({ kind: 'begin', worker: this.number, isFirst, ticketKeys, answersQuestions: true });
    } else if (message.kind === 'answer') this.#questions.takeReply(message);
    else if (message.kind === 'question')
      void replyTo(message.id, () => askFleet(message.question)).then((reply) => this.#send(reply));
    else if (message.kind === 'farewell') this.metrics.note(message.metrics);
    else if (message.kind === 'failed') this.#ready.reject(errorOf(message));
    else if (message.kind === 'ready') {
      clearTimeout(this.#starting);
      this.#readyAtMs = now();
      this.#drainMs = message.drainMs;
      this.#setState('serving');
      this.#ready.resolve(message);
      gap.end((socket, port) => this.#give(socket, port));
    }
  }

  /** Waits for the end of the process. Its last messages may arrive after its exit, but not after the end of its channel. */
  #followEnd(returnConnections: () => void): void {
    const worker = this.#worker;
    const exited = Promise.withResolvers<Pick<WorkerEnd, 'code' | 'signal'>>();
    const disconnected = Promise.withResolvers<void>();
    // The channel breaks when the process ends.
    worker.on('error', () => undefined);
    worker.once('exit', (code: number | null, signal: string | null) => {
      exited.resolve({ code, signal });
      endChannel(worker, disconnected.promise);
    });
    worker.once('disconnect', () => {
      disconnected.resolve();
      this.#options.gap.begin(worker.id);
    });
    void Promise.all([exited.promise, disconnected.promise]).then(([{ code, signal }]) => {
      clearTimeout(this.#starting);
      returnConnections();
      this.#setState('ended');
      this.#ready.reject(new Error(`Worker ${this.number} ended before it was ready (${signal ?? `code ${code}`}).`));
      this.#questions.giveUp();
      const servedMs = this.#readyAtMs === undefined ? 0 : this.#options.now() - this.#readyAtMs;
      this.#ended.resolve({ servedMs, code, signal });
    });
    void this.#ended.promise.then(this.metrics.end);
    // Avoids an unhandled rejection if no caller waits for `ready`.
    this.#ready.promise.catch(() => undefined);
  }

  #setState(next: WorkerState): void {
    this.#state = next;
    this.#sinceMs = this.#options.now();
  }

  #send(message: ToWorker): void {
    // A worker that has ended gets no message; `exit` and `disconnect` report its end.
    if (this.#worker.isConnected()) this.#worker.send(message, () => undefined);
  }

  #give(socket: Socket, port: number): void {
    const message: ToWorker = { kind: 'connection', port };
    this.#worker.send(message, socket, { keepOpen: false }, () => undefined);
  }
}

function errorOf({ message, mistakes }: WorkerFailure): Error {
  return mistakes === undefined ? new Error(message) : new ConfigError(mistakes);
}
