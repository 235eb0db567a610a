// Claims that requests store before they are sent, as tests of the stores make them.

import type { Claim } from '../../../gateway/replay/replay-store.ts';

export const SENT_AT_MS = Date.parse('2026-11-20T11:59:59Z');

/** Toward an upstream that does not honour keys, by default. */
export function claimOf(fingerprint: string, owner: string, leaseMs: number, more: Partial<Claim> = {}): Claim {
  const retainMs = 3_600_000;
  return {
    fingerprint,
    owner,
    leaseMs,
    retainMs,
    sentAtMs: SENT_AT_MS,
    upstream: 'things',
    runsAgain: false,
    ...more,
  };
}
