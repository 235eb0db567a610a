// Pure: converts the states of limits to response headers. RateLimit and RateLimit-Policy follow revision 11 of
// draft-ietf-httpapi-ratelimit-headers, which is not final.

import type { LimitState, LimitStates } from '../exchange/findings.ts';
import { flat } from '../shared/text.ts';
import type { Charge } from './counters/counter-store.ts';

/** The constant parts of the limit headers, shared by all callers under the same rules. */
export interface LimitTexts {
  /** Value of RateLimit-Policy; empty if no limit is enforced. */
  readonly policies: string;
  /** The beginning of the item in RateLimit, one per charge; empty for a shadow limit. */
  readonly items: readonly string[];
}

/** Builds the constant texts of a set of charges. Shadow limits are left out, because clients would obey them. */
export function limitTextsOf(charges: readonly Charge[]): LimitTexts {
  const policies = charges
    .filter(({ enforce }) => enforce)
    .map(({ policy, requests, windowSeconds }) => `${quote(policy)};q=${requests};w=${windowSeconds}`)
    .join(', ');
  return {
    policies: flat(policies),
    items: charges.map(({ policy, enforce }) => (enforce ? flat(`${quote(policy)};r=`) : '')),
  };
}

/**
 * Appends the limit headers of one answer.
 *
 * @param commonHeaders flat list of header names and values
 * @param texts result of `limitTextsOf`
 * @param nowMs epoch milliseconds
 */
export function appendLimitHeaders(
  commonHeaders: string[],
  { policies, items }: LimitTexts,
  { states, tightest }: LimitStates,
  nowMs: number,
): void {
  if (policies === '') return;
  commonHeaders.push('RateLimit-Policy', policies);
  if (tightest === undefined) return;
  commonHeaders.push(
    'RateLimit',
    rateLimitOf(items, states),
    'X-RateLimit-Limit',
    String(tightest.limit),
    'X-RateLimit-Remaining',
    String(tightest.remaining),
    // Epoch seconds, rounded up, because a client that returns at this time must not be too early.
    'X-RateLimit-Reset',
    String(Math.ceil((nowMs + tightest.resetMs) / 1000)),
  );
}

function rateLimitOf(items: readonly string[], states: readonly LimitState[]): string {
  let text = '';
  for (let index = 0; index < states.length; index += 1) {
    const item = items[index] as string;
    if (item === '') continue;
    const { remaining, resetMs } = states[index] as LimitState;
    if (text !== '') text += ', ';
    text += `${item}${remaining};t=${Math.ceil(resetMs / 1000)}`;
  }
  return text;
}

/** Returns the whole seconds until a refused request fits. It is at least 1, because clients would retry at once after 0. */
export function retryAfterSecondsOf(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}

/** A structured-field String (RFC 9651 section 3.3.3). Policy names come from the configuration and need no escapes. */
function quote(text: string): string {
  return `"${text}"`;
}
