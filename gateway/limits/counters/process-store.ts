// Counters in the memory of this process, which are exact for one process, and synchronous. While Redis cannot be reached, the Redis store
// uses them as its fallback.

import { type Charge, type CounterStore, type LimitDecision, toLimitDecision } from './counter-store.ts';
import { type CostCheck, checkCost, createWindow, newestMsOf, spend, type Window } from './window.ts';

/**
 * Number of counters that are checked for expiry whenever a new counter is added. With two, expired counters are removed faster than new
 * ones come. A request of a known counter checks none, because reading counters that are not in the cache of the processor takes longer
 * than the decision.
 */
const SWEPT_PER_COUNTER = 2;

interface ProcessStoreOptions {
  /** Milliseconds; see `createProcessStore`. */
  readonly now: () => number;
  /** The source that decisions name. Default: `process`. */
  readonly source?: string;
}

export interface ProcessStore extends CounterStore {
  decide(charges: readonly Charge[]): LimitDecision;
  reset(counters: readonly string[]): void;
  /** Number of counters in memory. */
  size(): number;
}

interface Counter {
  readonly window: Window;
  windowMs: number;
}

/** @param options `now` should never go back (`createForwardClock`), because memory is freed late after a step back */
export function createProcessStore({ now, source = 'process' }: ProcessStoreOptions): ProcessStore {
  const counters = new Map<string, Counter>();
  let extended = { windowMs: 0, untilMs: Number.NEGATIVE_INFINITY };
  const sweepOne = createSweep(counters, (clockMs) => (clockMs < extended.untilMs ? extended.windowMs : 0));
  const since = now();
  /** The steps of the sweep that are due because of new counters. */
  let sweepsDue = 0;

  function windowOf({ counter: name, windowMs }: Charge): Window {
    let counter = counters.get(name);
    if (counter === undefined) {
      sweepsDue += SWEPT_PER_COUNTER;
      counter = { window: createWindow(name), windowMs };
      counters.set(name, counter);
    }
    counter.windowMs = windowMs;
    return counter.window;
  }

  function decide(charges: readonly Charge[]): LimitDecision {
    const clockMs = now();
    for (; sweepsDue > 0; sweepsDue -= 1) sweepOne(clockMs);
    const windows: Window[] = [];
    let atMs = clockMs;
    for (const charge of charges) {
      const window = windowOf(charge);
      windows.push(window);
      atMs = Math.max(atMs, newestMsOf(window));
    }
    const checks: CostCheck[] = [];
    let admitted = true;
    for (let index = 0; index < charges.length; index += 1) {
      const charge = charges[index] as Charge;
      const check = checkCost(windows[index] as Window, charge, charge.cost, atMs, clockMs);
      checks.push(check);
      if (charge.enforce && check.waitMs > 0) admitted = false;
    }

    const figures: number[] = [];
    for (let index = 0; index < charges.length; index += 1) {
      const charge = charges[index] as Charge;
      const window = windows[index] as Window;
      let { remaining, resetMs, waitMs } = checks[index] as CostCheck;
      if (admitted && waitMs === 0 && charge.cost > 0) {
        spend(window, charge, charge.cost, atMs);
        remaining -= charge.cost;
        resetMs = (window.lastMs[0] as number) + charge.windowMs - clockMs;
      }
      figures.push(remaining, resetMs, waitMs);
    }
    return toLimitDecision(charges, figures, 0, atMs, source);
  }

  return {
    decide,
    reset(names) {
      for (const name of names) counters.delete(name);
    },
    extendExpiry(windowMs) {
      extended = { windowMs, untilMs: now() + windowMs };
    },
    // The store caches no refusals, because every decision reads the counters.
    clearRefusals: () => undefined,
    size: () => counters.size,
    status: () => ({ kind: 'process', state: 'up', since, policyInForce: undefined, reason: undefined }),
    close: async () => counters.clear(),
  };
}

/**
 * Returns a function that checks one counter per call, in an endless round over all counters, and removes it if it has expired. No single
 * request therefore pays for the removal of all expired counters.
 */
function createSweep(
  counters: Map<string, Counter>,
  extendedMsAt: (clockMs: number) => number,
): (clockMs: number) => void {
  let walk = counters.entries();
  return function sweepOne(clockMs) {
    const next = walk.next();
    if (next.done) {
      walk = counters.entries();
      return;
    }
    const [name, { window, windowMs }] = next.value;
    // A counter is kept for twice its window. If the clock is set back by less than a window, the counters that count again are still in
    // memory.
    if (newestMsOf(window) <= clockMs - 2 * Math.max(windowMs, extendedMsAt(clockMs))) counters.delete(name);
  };
}
