// Keeps the configured number of workers. Replaces a worker that dies, replaces all workers in sequence on request, and stops them at the
// end.

import { type BackOff, type BackOffRules, createBackOff } from './back-off.ts';
import type { Ready } from './messages.ts';
import type { WorkerEnd, WorkerProcess } from './process.ts';

interface WorkerPoolOptions {
  readonly size: number;
  /** @param isFirst whether this is the first worker of this gateway */
  start(number: number, isFirst: boolean): WorkerProcess;
  readonly backOff: BackOffRules;
  now(): number;
  onDeath(worker: WorkerProcess, death: WorkerEnd, delayMs: number): void;
  onStartFailure(number: number, error: Error): void;
  onReplaced(before: WorkerProcess, next: WorkerProcess): void;
}

interface WorkerDeath extends Pick<WorkerEnd, 'code' | 'signal'> {
  readonly pid: number;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

export interface WorkerStatus {
  readonly number: number;
  /** Number of workers that died in this place. */
  readonly restarts: number;
  /** The time of the next start after a death, epoch milliseconds; undefined while the place has a worker, and before its first one. */
  readonly waitsUntilMs: number | undefined;
  /** The last death in this place; undefined before the first one. */
  readonly death: WorkerDeath | undefined;
}

interface Place {
  readonly number: number;
  readonly backOff: BackOff;
  /** The worker that is replaced when it dies. */
  current: WorkerProcess | undefined;
  /** The successor of a living worker, while it starts. */
  next: WorkerProcess | undefined;
  restarts: number;
  waitsUntilMs: number | undefined;
  death: WorkerDeath | undefined;
  timer: NodeJS.Timeout | undefined;
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #places: Place[];
  readonly #processes = new Set<WorkerProcess>();
  #ending = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.size }, (_, index) => ({
      number: index + 1,
      backOff: createBackOff(options.backOff),
      current: undefined,
      next: undefined,
      restarts: 0,
      waitsUntilMs: undefined,
      death: undefined,
      timer: undefined,
    }));
  }

  /**
   * Starts the first worker, and the others when the first worker takes requests. Resolves with the report of the first worker. If a worker
   * fails, stops all and rejects with the reason.
   */
  async begin(): Promise<Ready> {
    const [first, ...others] = this.#places as [Place, ...Place[]];
    try {
      // One worker starts first, so that an error is reported once, and only one worker creates shared files.
      const ready = await this.#fill(first, true);
      await Promise.all(others.map((place) => this.#fill(place, false)));
      return ready;
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  /** All processes by number, including those that are starting or ending. */
  processes(): readonly WorkerProcess[] {
    return [...this.#processes].sort((one, other) => one.number - other.number);
  }

  places(): readonly WorkerStatus[] {
    return this.#places;
  }

  /** Replaces workers one by one; each successor takes requests before its predecessor ends. Resolves with whether all were replaced. */
  async roll(): Promise<boolean> {
    for (const place of this.#places) {
      if (this.#ending || !(await this.#replace(place))) return false;
    }
    return true;
  }

  /** Ends all workers. Resolves when they have ended. */
  async end(): Promise<void> {
    this.#ending = true;
    for (const { timer } of this.#places) clearTimeout(timer);
    await Promise.all([...this.#processes].map((worker) => stop(worker, false)));
  }

  #start(place: Place, isFirst = false): WorkerProcess {
    const started = this.#options.start(place.number, isFirst);
    this.#processes.add(started);
    void started.ended.then(() => this.#processes.delete(started));
    return started;
  }

  /** Makes this the current worker of the place, and replaces it when it dies. */
  #settle(place: Place, worker: WorkerProcess): void {
    place.current = worker;
    place.waitsUntilMs = undefined;
    void worker.ended.then((death) => {
      if (place.current !== worker || this.#ending) return;
      place.current = undefined;
      place.restarts += 1;
      place.death = { pid: worker.pid, atMs: this.#options.now(), code: death.code, signal: death.signal };
      const backOffMs = place.backOff.delayAfter(death.servedMs);
      // The full delay applies only while another worker serves or starts, because repeated deaths must not end the service.
      const delayMs = this.#isAnyFilled() ? backOffMs : Math.min(backOffMs, this.#options.backOff.firstMs);
      this.#options.onDeath(worker, death, delayMs);
      // A successor is starting already.
      if (place.next === undefined) this.#refill(place, delayMs);
    });
  }

  #isAnyFilled(): boolean {
    return this.#places.some(({ current, next }) => current !== undefined || next !== undefined);
  }

  async #fill(place: Place, isFirst: boolean): Promise<Ready> {
    const worker = this.#start(place, isFirst);
    const ready = await worker.ready;
    this.#settle(place, worker);
    return ready;
  }

  #refill(place: Place, delayMs: number): void {
    place.waitsUntilMs = this.#options.now() + delayMs;
    place.timer = setTimeout(() => {
      const worker = this.#start(place);
      worker.ready.catch((error: Error) => {
        if (!this.#ending) this.#options.onStartFailure(place.number, error);
      });
      this.#settle(place, worker);
    }, delayMs);
  }

  async #replace(place: Place): Promise<boolean> {
    const before = place.current;
    // A worker that is still to start will be new anyway.
    if (before?.state() !== 'serving') return true;
    const next = this.#start(place);
    place.next = next;
    try {
      await next.ready;
    } catch (error) {
      place.next = undefined;
      if (this.#ending) return false;
      this.#options.onStartFailure(place.number, error as Error);
      if (place.current === undefined) this.#refill(place, 0);
      return false;
    }
    place.next = undefined;
    if (this.#ending) return false;
    this.#settle(place, next);
    this.#options.onReplaced(before, next);
    await stop(before, true);
    return true;
  }
}

/** Stops a worker. Kills it if it is still starting, because it has no requests to finish. */
async function stop(worker: WorkerProcess, handOver: boolean): Promise<void> {
  const state = worker.state();
  if (state === 'starting') worker.kill();
  if (state === 'serving') await worker.stop(handOver);
  await worker.ended;
}
