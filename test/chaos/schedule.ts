// Pure: the faults and their times, from a seed. The same seed gives the same order, pauses and lengths.

import type { Fault } from './faults.ts';
import type { Random } from './random.ts';

export interface Step {
  readonly fault: Fault;
  /** Milliseconds after the end of the step before. */
  readonly pauseMs: number;
  readonly lastsMs: number;
}

const PAUSE_MS = [500, 3000] as const;

/** Each fault once, in the order given, with a pause after which nothing of the one before is left. */
export function oneByOne(faults: readonly Fault[], random: Random, pauseMs: number): Step[] {
  return faults.map((fault) => ({ fault, pauseMs, lastsMs: random.between(...fault.lasts) }));
}

/** All faults in any order, then again in another, and so on for ever. */
export function* anyOrder(faults: readonly Fault[], random: Random): Generator<Step, never> {
  for (;;) {
    for (const fault of random.shuffled(faults)) {
      yield { fault, pauseMs: random.between(...PAUSE_MS), lastsMs: random.between(...fault.lasts) };
    }
  }
}
