// Counters in this process's memory: exact for one process, decided without waiting. Also what a Redis store falls back on.

import type { Charge, CounterStore, LimitDecision } from './store.ts';
import { toVerdict } from './verdict.ts';
import { createWindow, type Look, look, newestMsOf, spend, type Window } from './window.ts';

/**
 * Subjects looked at for each new one to find expired ones: more than are added, so the sweep always gains. Known subjects do not
 * sweep: looking at two strangers touches memory that nobody has touched for long, which cost more than the decision itself.
 */
const SWEPT_PER_SUBJECT = 2;

export interface ProcessStoreOptions {
  readonly now: () => number;
  /** What verdicts name as their source. */
  readonly source?: string;
}

export interface ProcessStore extends CounterStore {
  decide(charges: readonly Charge[]): LimitDecision;
  reset(keys: readonly string[]): void;
  /** Subjects in memory. */
  size(): number;
}

interface Subject {
  readonly window: Window;
  windowMs: number;
}

/** A store without a server. `now` should be a clock that nobody sets: while it is behind, less is freed. */
export function createProcessStore({ now, source = 'process' }: ProcessStoreOptions): ProcessStore {
  const subjects = new Map<string, Subject>();
  let kept = { windowMs: 0, untilMs: Number.NEGATIVE_INFINITY };
  const sweepOne = createSweep(subjects, (clockMs) => (clockMs < kept.untilMs ? kept.windowMs : 0));
  const since = now();
  /** Steps of the sweep that new subjects have brought and nobody has made yet. */
  let owed = 0;

  function windowOf({ key, windowMs }: Charge): Window {
    let subject = subjects.get(key);
    if (subject === undefined) {
      owed += SWEPT_PER_SUBJECT;
      subject = { window: createWindow(), windowMs };
      subjects.set(key, subject);
    }
    subject.windowMs = windowMs;
    return subject.window;
  }

  function decide(charges: readonly Charge[]): LimitDecision {
    const clockMs = now();
    for (; owed > 0; owed -= 1) sweepOne(clockMs);
    const windows: Window[] = [];
    let atMs = clockMs;
    for (const charge of charges) {
      const window = windowOf(charge);
      windows.push(window);
      atMs = Math.max(atMs, newestMsOf(window));
    }
    const looks: Look[] = [];
    let admitted = true;
    for (let index = 0; index < charges.length; index += 1) {
      const charge = charges[index] as Charge;
      const found = look(windows[index] as Window, charge, charge.cost, atMs, clockMs);
      looks.push(found);
      if (charge.enforce && found.waitMs > 0) admitted = false;
    }

    const figures: number[] = [];
    for (let index = 0; index < charges.length; index += 1) {
      const charge = charges[index] as Charge;
      const window = windows[index] as Window;
      let { remaining, resetMs, waitMs } = looks[index] as Look;
      if (admitted && waitMs === 0 && charge.cost > 0) {
        spend(window, charge.windowMs, charge.cost, atMs);
        remaining -= charge.cost;
        resetMs = (window.lastMs[0] as number) + charge.windowMs - clockMs;
      }
      figures.push(remaining, resetMs, waitMs);
    }
    return toVerdict(charges, figures, 0, atMs, source);
  }

  return {
    decide,
    reset(keys) {
      for (const key of keys) subjects.delete(key);
    },
    keep(windowMs) {
      kept = { windowMs, untilMs: now() + windowMs };
    },
    // Every decision is made from the counters themselves.
    forgetRefusals: () => undefined,
    size: () => subjects.size,
    status: () => ({ kind: 'process', state: 'up', since, policyInForce: undefined, reason: undefined }),
    close: async () => subjects.clear(),
  };
}

/** One step of an endless walk over all subjects, so that no single request pays for the forgotten ones. */
function createSweep(subjects: Map<string, Subject>, keptMsAt: (clockMs: number) => number): (clockMs: number) => void {
  let walk = subjects.entries();
  return function sweepOne(clockMs) {
    const next = walk.next();
    if (next.done) {
      walk = subjects.entries();
      return;
    }
    const [key, { window, windowMs }] = next.value;
    // A window later than could be: a clock that is set back by less than that finds everything still there.
    if (newestMsOf(window) <= clockMs - 2 * Math.max(windowMs, keptMsAt(clockMs))) subjects.delete(key);
  };
}
