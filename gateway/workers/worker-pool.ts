// The workers as a whole: as many as there should be, each replaced when it dies, all of them replaced one after the other when somebody
// asks for it, and all ended at the end.

import { type BackOffRules, createBackOff } from './back-off.ts';
import type { Ready } from './messages.ts';
import type { Ending, WorkerProcess } from './process.ts';

export interface WorkerPoolOptions {
  readonly size: number;
  /** @param isFirst whether it is the very first one of this gateway */
  start(number: number, isFirst: boolean): WorkerProcess;
  readonly backOff: BackOffRules;
  now(): number;
  onDeath(worker: WorkerProcess, how: Ending, delayMs: number): void;
  onStartFailure(number: number, error: Error): void;
  onReplaced(before: WorkerProcess, next: WorkerProcess): void;
}

export interface WorkerPool {
  /**
   * Starts one, and when it takes requests, the others. Answers what the first one says of itself. Rejects with why one of them does not
   * take requests; then there is none.
   */
  begin(): Promise<Ready>;
  /** Every process that there is, in the order of their numbers; those that begin or end included. */
  processes(): readonly WorkerProcess[];
  places(): readonly WorkerStatus[];
  /** Replaces one after the other: the next one takes requests before the former is told to end. Answers whether all were replaced. */
  roll(): Promise<boolean>;
  /** Resolves when all have ended. */
  end(): Promise<void>;
}

export interface WorkerStatus {
  readonly number: number;
  /** How often a worker died here. */
  readonly restarts: number;
  /** Until when nobody is started here, epoch milliseconds; undefined: somebody is, or is about to be. */
  readonly waitsUntilMs: number | undefined;
}

interface Place {
  readonly number: number;
  readonly backOff: ReturnType<typeof createBackOff>;
  /** Whose death would be noticed. */
  current: WorkerProcess | undefined;
  /** Who is to replace the present one, which is not dead. */
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

  /** From now on the place is filled by this one. */
  function settle(place: Place, worker: WorkerProcess): void {
    place.current = worker;
    place.waitsUntilMs = undefined;
    void worker.ended.then((how) => {
      if (place.current !== worker || ending) return;
      place.current = undefined;
      place.restarts += 1;
      const backOffMs = place.backOff.delayAfter(how.servedMs);
      // A place waits only while others serve or start: deaths that come again and again must not end the service.
      const delayMs = isAnyFilled() ? backOffMs : Math.min(backOffMs, options.backOff.firstMs);
      options.onDeath(worker, how, delayMs);
      // Somebody is on the way already.
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
    // Who is about to be started is new anyway.
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
        // Alone: what is wrong is found once, and what has to be made is made by one.
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

/** Who takes no requests yet has nothing to finish. */
async function stop(worker: WorkerProcess, handOver: boolean): Promise<void> {
  const state = worker.state();
  if (state === 'starting') worker.kill();
  if (state === 'serving') await worker.stop(handOver);
  await worker.ended;
}
