// Pure: quota → response headers; the one place that knows their names. RateLimit and RateLimit-Policy follow revision 11 of
// draft-ietf-httpapi-ratelimit-headers, which is not final. Shadow limits are not shown: clients would obey them.

import type { Quota, QuotaState } from '../exchange.ts';
import type { Charge } from './store.ts';

/** The value of RateLimit-Policy, which stays the same for a set of charges; empty when none is enforced. */
export function policiesOf(charges: readonly Charge[]): string {
  return charges
    .filter(({ enforce }) => enforce)
    .map(({ policy, requests, windowSeconds }) => `${quoted(policy)};q=${requests};w=${windowSeconds}`)
    .join(', ');
}

/** Appends the headers of one answer to the flat list of those it carries. */
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
  let live = '';
  for (let index = 0; index < states.length; index += 1) {
    if (charges[index]?.enforce === true) live += `${live === '' ? '' : ', '}${liveOf(states[index] as QuotaState)}`;
  }
  carried.push(
    'RateLimit',
    live,
    'X-RateLimit-Limit',
    String(tightest.limit),
    'X-RateLimit-Remaining',
    String(tightest.remaining),
    // Epoch seconds, rounded up: whoever comes back then does not come too early.
    'X-RateLimit-Reset',
    String(Math.ceil((nowMs + tightest.resetMs) / 1000)),
  );
}

/** Whole seconds after which a refused request has room: never 0, or clients would retry at once. */
export function retryAfterSecondsOf(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}

function liveOf({ policy, remaining, resetMs }: QuotaState): string {
  return `${quoted(policy)};r=${remaining};t=${Math.ceil(resetMs / 1000)}`;
}

/** A structured-field String (RFC 9651 section 3.3.3). Policies are named by configuration, whose names need no escapes. */
function quoted(text: string): string {
  return `"${text}"`;
}
