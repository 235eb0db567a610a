// Pure: converts quotas to response headers; only this file contains their names. RateLimit and RateLimit-Policy follow revision 11 of
// draft-ietf-httpapi-ratelimit-headers, which is not final. Shadow limits are not shown, because clients would obey them.

import type { Quota, QuotaState } from '../exchange.ts';
import type { Charge } from './store.ts';

/** Value of RateLimit-Policy, which is constant for a set of charges; empty if none is enforced. */
export function policiesOf(charges: readonly Charge[]): string {
  return charges
    .filter(({ enforce }) => enforce)
    .map(({ policy, requests, windowSeconds }) => `${quoted(policy)};q=${requests};w=${windowSeconds}`)
    .join(', ');
}

/**
 * Appends the limit headers of one answer.
 *
 * @param carried flat list of header names and values
 * @param policies result of `policiesOf`
 * @param nowMs epoch milliseconds
 */
export function appendLimitHeaders(
  carried: string[],
  policies: string,
  charges: readonly Charge[],
  quota: Quota,
  nowMs: number,
): void {
  if (policies === '') return;
  carried.push('RateLimit-Policy', policies);
  const { states, tightest } = quota;
  if (tightest === undefined) return;
  let rateLimit = '';
  for (let index = 0; index < states.length; index += 1) {
    if (charges[index]?.enforce === true)
      rateLimit += `${rateLimit === '' ? '' : ', '}${rateLimitItemOf(states[index] as QuotaState)}`;
  }
  carried.push(
    'RateLimit',
    rateLimit,
    'X-RateLimit-Limit',
    String(tightest.limit),
    'X-RateLimit-Remaining',
    String(tightest.remaining),
    // Epoch seconds, rounded up: a client that returns at this time is not too early.
    'X-RateLimit-Reset',
    String(Math.ceil((nowMs + tightest.resetMs) / 1000)),
  );
}

/** Whole seconds until a refused request fits: never 0, or clients would retry at once. */
export function retryAfterSecondsOf(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}

function rateLimitItemOf({ policy, remaining, resetMs }: QuotaState): string {
  return `${quoted(policy)};r=${remaining};t=${Math.ceil(resetMs / 1000)}`;
}

/** A structured-field String (RFC 9651 section 3.3.3). Policy names come from the configuration and need no escapes. */
function quoted(text: string): string {
  return `"${text}"`;
}
