// What the checks of one exchange share: the steps that are left, and the numbers that a double cannot hold.

export interface CheckScope {
  stepsLeft: number;
  /** Number literals that differ from the double that they are read as, by this double. */
  inexact: Map<number, Set<string>> | undefined;
}

/** About 50 ms. Common requests take a few hundred steps. */
export const STEPS_MAX = 10_000_000;

/** For work that no client causes, such as reading a configuration. */
const unbounded: CheckScope = { stepsLeft: Number.POSITIVE_INFINITY, inexact: undefined };

/** The scope of the exchange that is being checked. A module variable suffices, because checks are synchronous. */
export let current: CheckScope = unbounded;

export function createCheckScope(): CheckScope {
  return { stepsLeft: STEPS_MAX, inexact: undefined };
}

/** Runs checks in a scope. */
export function withinScope<Result>(scope: CheckScope, work: () => Result): Result {
  const outer = current;
  current = scope;
  try {
    return work();
  } finally {
    current = outer;
  }
}
