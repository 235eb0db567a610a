// The functions of the machine that protocols need: clocks, timers and random numbers, under the names of Node. A protocol gets them as an
// argument, so that a simulation can run many gateways on one seeded clock (test/simulation). Only this file reads them from Node.

import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Timer {
  /** Does not keep the process alive. */
  unref(): Timer;
  /** Begins its time anew. */
  refresh(): Timer;
}

export interface Machine {
  /** Epoch milliseconds. The clock may be set back or forward. */
  now(): number;
  /** Milliseconds of a clock that never goes back. */
  readonly performance: { now(): number };
  setTimeout<Args extends unknown[]>(run: (...args: Args) => void, ms: number, ...args: Args): Timer;
  clearTimeout(timer: Timer | undefined): void;
  setInterval(run: () => void, ms: number): Timer;
  clearInterval(timer: Timer | undefined): void;
  /** Runs after the sockets of this turn have been read. */
  setImmediate<Args extends unknown[]>(run: (...args: Args) => void, ...args: Args): unknown;
  sleep(ms: number, options?: { readonly signal?: AbortSignal; readonly ref?: boolean }): Promise<void>;
  /** From 0 to 1. */
  random(): number;
  randomBytes(count: number): Buffer;
  randomUUID(): string;
}

/** The functions of Node. Each one is read at its use, because tests replace them. */
export const realMachine: Machine = {
  now: () => Date.now(),
  performance,
  get setTimeout() {
    return setTimeout;
  },
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  get setInterval() {
    return setInterval;
  },
  clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout | undefined),
  get setImmediate() {
    return setImmediate;
  },
  sleep: (ms, options) => sleep(ms, undefined, options),
  random: () => Math.random(),
  randomBytes,
  randomUUID,
};

/**
 * A clock for measuring durations, derived from the system clock, which an administrator or NTP may set. It never goes back: when the given
 * clock is set back, this clock goes on from its last value. Otherwise every recorded time would lie in the future, and a one-minute window
 * would end later by the same amount. When the given clock is set forward, this clock goes forward too, and windows end early.
 *
 * @param now epoch milliseconds
 */
export function createForwardClock(now: () => number): () => number {
  let aheadMs = 0;
  let last = Number.NEGATIVE_INFINITY;
  return function forwardNow() {
    const at = now() + aheadMs;
    if (at >= last) {
      last = at;
      return at;
    }
    aheadMs += last - at;
    return last;
  };
}
