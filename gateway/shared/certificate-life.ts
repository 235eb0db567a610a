// Decides when a certificate is about to expire. This is at a share of its lifetime, because lifetimes differ (398, 90 or 6 days). Pure.

import { DAY_MS } from './durations.ts';

/**
 * A certificate is renewed automatically when a third of its lifetime is left. If only a sixth is left, the renewal has failed for some
 * time.
 */
const WARN_SHARE = 1 / 6;
const WARN_MAX_MS = 30 * DAY_MS;

/** Both ends of the validity, epoch milliseconds. */
export interface CertificateLife {
  readonly validFromMs: number;
  readonly expiresAtMs: number;
}

/** Returns the milliseconds before its end from which on a certificate is about to expire: a sixth of its lifetime, at most 30 days. */
export function warnBeforeMs({ validFromMs, expiresAtMs }: CertificateLife): number {
  return Math.min((expiresAtMs - validFromMs) * WARN_SHARE, WARN_MAX_MS);
}

/** Returns the state of a certificate. `expiring`: it should have been renewed. `expired`: clients refuse it. */
export function stateOfLife(life: CertificateLife, nowMs: number): 'valid' | 'expiring' | 'expired' {
  const leftMs = life.expiresAtMs - nowMs;
  if (leftMs <= 0) return 'expired';
  return leftMs <= warnBeforeMs(life) ? 'expiring' : 'valid';
}
