// One budget of steps for all checks of one exchange: unions, references, patterns, formats, unique items, forms. A step stands for about
// five nanoseconds, so that no text of a client can hold the process. Throws request_too_complex.

import { GatewayError } from '../errors.ts';

/** The steps that are left. */
export interface StepBudget {
  left: number;
}

/** About 50 ms. Common requests take a few hundred steps. */
export const STEPS_MAX = 10_000_000;
/** What a member or item, and a character of text, add: work that grows with the size alone is bounded by the limits of bodies. */
const STEPS_PER_MEMBER = 200;
const STEPS_PER_CHARACTER = 10;

/** For work that no client causes, such as reading a configuration. */
const unlimited: StepBudget = { left: Number.POSITIVE_INFINITY };

/** The budget of the exchange that is being checked. A module variable suffices, because checks are synchronous. */
let current = unlimited;

export function createStepBudget(): StepBudget {
  return { left: STEPS_MAX };
}

/** Runs checks at the cost of a budget. */
export function withSteps<Result>(budget: StepBudget, work: () => Result): Result {
  const outer = current;
  current = budget;
  try {
    return work();
  } finally {
    current = outer;
  }
}

/** Takes steps from the budget. Called before the work, or while it goes on. */
export function takeSteps(steps: number): void {
  current.left -= steps;
  if (current.left < 0) throw tooComplex();
}

/** Adds what a value of this size may take. */
export function allowFor(members: number, characters = 0): void {
  current.left += members * STEPS_PER_MEMBER + characters * STEPS_PER_CHARACTER;
}

/** The refusal of a request that takes more steps than there are. */
export function tooComplex(): GatewayError {
  return new GatewayError('request_too_complex');
}

export function isTooComplex(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'request_too_complex';
}
