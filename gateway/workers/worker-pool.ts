// Keeps the configured number of workers. Replaces a worker that dies, replaces all workers in sequence on request, and stops them at the
// end.

import { type BackOff, type BackOffRules, createBackOff } from './back-off.ts';
import type { Ready } from './messages.ts';
import type { Ending, WorkerProcess } from './process.ts';

interface WorkerPoolOptions {
  readonly size: number;
  /** @param isFirst whether this is the first worker of this gateway */
  start(number: number, isFirst: boolean): WorkerProcess;
  readonly backOff: BackOffRules;
  now(): number;
  onDeath(worker: WorkerProcess, death: Ending, delayMs: number): void;
  onStartFailure(number: number, error: Error): void;
  onReplaced(before: WorkerProcess, next: WorkerProcess): void;
}

export interface WorkerPool {
  /**
   * Starts the first worker, and the others when the first worker takes requests. Resolves with the report of the first worker. If a worker
   * fails, stops all and rejects with the reason.
   */
  begin(): Promise<Ready>;
  /** All processes by number, including those that are starting or ending. */
  processes(): readonly WorkerProcess[];
  places(): readonly WorkerStatus[];
  /** Replaces workers one by one; each successor takes requests before its predecessor ends. Resolves with whether all were replaced. */
  roll(): Promise<boolean>;
  /** Ends all workers. Resolves when they have ended. */
  end(): Promise<void>;
}

export interface WorkerStatus {
  readonly number: number;
  /** Number of workers that died in this place. */
  readonly restarts: number;
  /** The time of the next start in this place, epoch milliseconds; undefined while it has a worker. */
  readonly waitsUntilMs: number | undefined;
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
  timer: NodeJS.Timeout | undefined;
}

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { now } = options;
  const places: Place[] = Array.from({ length: options.size }, (_, index) => ({
    number: index + 1,
    backOff: createBackOff(options.backOff),
    current: undefined,
    next: undefined,
    restarts: 0,
    waitsUntilMs: undefined,
    timer: undefined,
  }));
  const processes = new Set<WorkerProcess>();
  let ending = false;

  function start(place: Place, isFirst = false): WorkerProcess {
    const started = options.start(place.number, isFirst);
    processes.add(started);
    void started.ended.then(() => processes.delete(started));
    return started;
  }

  /** Makes this the current worker of the place, and replaces it when it dies. */
  function settle(place: Place, worker: WorkerProcess): void {
    place.current = worker;
    place.waitsUntilMs = undefined;
    void worker.ended.then((death) => {
      if (place.current !== worker || ending) return;
      place.current = undefined;
      place.restarts += 1;
      const backOffMs = place.backOff.delayAfter(death.servedMs);
      // The full delay applies only while another worker serves or starts, because repeated deaths must not end the service.
      const delayMs = isAnyFilled() ? backOffMs : Math.min(backOffMs, options.backOff.firstMs);
      options.onDeath(worker, death, delayMs);
      // A successor is starting already.
      if (place.next === undefined) refill(place, delayMs);
    });
  }

  function isAnyFilled(): boolean {
    return places.some(({ current, next }) => current !== undefined || next !== undefined);
  }

  async function fill(place: Place, isFirst: boolean): Promise<Ready> {
    const worker = start(place, isFirst);
    const ready = await worker.ready;
    settle(place, worker);
    return ready;
  }

  function refill(place: Place, delayMs: number): void {
    place.waitsUntilMs = now() + delayMs;
    place.timer = setTimeout(() => {
      const worker = start(place);
      worker.ready.catch((error: Error) => {
        if (!ending) options.onStartFailure(place.number, error);
      });
      settle(place, worker);
    }, delayMs);
  }

  async function replace(place: Place): Promise<boolean> {
    const before = place.current;
    // A worker that is still to start will be new anyway.
    if (before?.state() !== 'serving') return true;
    const next = start(place);
    place.next = next;
    try {
      await next.ready;
    } catch (error) {
      place.next = undefined;
      if (ending) return false;
      options.onStartFailure(place.number, error as Error);
      if (place.current === undefined) refill(place, 0);
      return false;
    }
    place.next = undefined;
    if (ending) return false;
    settle(place, next);
    options.onReplaced(before, next);
    await stop(before, true);
    return true;
  }

  return {
    async begin() {
      const [first, ...others] = places as [Place, ...Place[]];
      try {
        // One worker starts first, so that an error is reported once, and only one worker creates shared files.
        const ready = await fill(first, true);
        await Promise.all(others.map((place) => fill(place, false)));
        return ready;
      } catch (error) {
        await endAll();
        throw error;
      }
    },
    processes: () => [...processes].sort((one, other) => one.number - other.number),
    places: () => places,
    async roll() {
      for (const place of places) {
        if (ending || !(await replace(place))) return false;
      }
      return true;
    },
    end: endAll,
  };

  async function endAll(): Promise<void> {
    ending = true;
    for (const { timer } of places) clearTimeout(timer);
    await Promise.all([...processes].map((worker) => stop(worker, false)));
  }
}

/** Stops a worker. Kills it if it is still starting, because it has no requests to finish. */
async function stop(worker: WorkerProcess, handOver: boolean): Promise<void> {
  const state = worker.state();
  if (state === 'starting') worker.kill();
  if (state === 'serving') await worker.stop(handOver);
  await worker.ended;
}
