// The scope that the checks of one exchange share. It consists of a budget of steps, and the numbers that a double cannot represent.
// Without the budget, a text of a client could occupy the process. Unions, references, patterns, formats, unique items and forms take steps
// of about five nanoseconds. Throws request_too_complex.

import { GatewayError } from '../../catalogue/errors.ts';

export interface CheckScope {
  stepsLeft: number;
  /** The number literals that differ from their double, by this double. */
  inexact: Map<number, Set<string>> | undefined;
}

/** About 50 ms. Common requests take a few hundred steps. */
export const STEPS_MAX = 10_000_000;
/**
 * Steps that each member or item adds to the budget, and each character of text. Work that only grows with the size needs no other bound,
 * because the limits of bodies bound the size.
 */
const STEPS_PER_MEMBER = 200;
const STEPS_PER_CHARACTER = 10;

/** The scope of work that no client causes, such as reading a configuration. */
const UNBOUNDED_SCOPE: CheckScope = { stepsLeft: Number.POSITIVE_INFINITY, inexact: undefined };

/** The scope of the exchange that is being checked. A module variable suffices, because checks are synchronous. */
export let current: CheckScope = UNBOUNDED_SCOPE;

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

/** Takes steps from the budget. Call it before the work or during it. */
export function takeSteps(steps: number): void {
  current.stepsLeft -= steps;
  if (current.stepsLeft < 0) throw tooComplex();
}

/** Adds the steps that a value of this size may take. */
export function allowFor(members: number, characters = 0): void {
  current.stepsLeft += members * STEPS_PER_MEMBER + characters * STEPS_PER_CHARACTER;
}

/** Returns the refusal of a request that takes too many steps. */
export function tooComplex(): GatewayError {
  return new GatewayError('request_too_complex');
}

export function isTooComplex(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'request_too_complex';
}
