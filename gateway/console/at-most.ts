// Pure: bounds the causes of one kind.

import { type Cause, failureCause, warningCause } from './cause.ts';

/** Causes of one kind beyond these are counted. */
const TOLD_MAX = 4;

/** The first ones, and one more that counts the others. */
export function atMost(causes: readonly Cause[], what: string, details: string): Cause[] {
  const more = causes.length - TOLD_MAX;
  if (more <= 0) return [...causes];
  const isBad = causes.some(({ kind }) => kind === 'bad');
  const rest = (isBad ? failureCause : warningCause)(`more ${what}`, `${more} more ${what}.`, '', { details });
  return [...causes.slice(0, TOLD_MAX), rest];
}
