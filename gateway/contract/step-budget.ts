// One budget of steps for all checks of one exchange: unions, references, patterns, formats, unique items, forms. A step stands for about
// five nanoseconds, so that no text of a client can hold the process. Throws request_too_complex.

import { GatewayError } from '../errors.ts';
import { current } from './check-scope.ts';

/** What a member or item, and a character of text, add: work that grows with the size alone is bounded by the limits of bodies. */
const STEPS_PER_MEMBER = 200;
const STEPS_PER_CHARACTER = 10;

/** Takes steps from the budget. Called before the work, or while it goes on. */
export function takeSteps(steps: number): void {
  current.stepsLeft -= steps;
  if (current.stepsLeft < 0) throw tooComplex();
}

/** Adds what a value of this size may take. */
export function allowFor(members: number, characters = 0): void {
  current.stepsLeft += members * STEPS_PER_MEMBER + characters * STEPS_PER_CHARACTER;
}

/** The refusal of a request that takes more steps than there are. */
export function tooComplex(): GatewayError {
  return new GatewayError('request_too_complex');
}

export function isTooComplex(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'request_too_complex';
}
