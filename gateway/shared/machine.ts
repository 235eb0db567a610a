// The functions of the machine that protocols need, with the names of Node: clocks, timers and random numbers. A protocol gets them as an
// argument, because simulations run many gateways on one seeded clock (test/simulation). Only this file takes them from Node.

import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Timer {
  /** Does not keep the process alive. */
  unref(): Timer;
  /** Restarts its time. */
  refresh(): Timer;
}

export interface Machine {
  /** Returns epoch milliseconds. The clock may be set back or forward. */
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
  /** Returns a number from 0 to 1. */
  random(): number;
  randomBytes(count: number): Buffer;
  randomUUID(): string;
}

/** The functions of Node. Each function is read at its use, because tests replace it. */
export const REAL_MACHINE: Machine = {
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
 * Creates a clock that never goes back, from the system clock, which an administrator or NTP may set. When the system clock is set back,
 * the new clock continues from its last value. Otherwise all stored times would be in the future, and a window of one minute would end too
 * late. When the system clock is set forward, the new clock goes forward, too, and windows end early.
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
