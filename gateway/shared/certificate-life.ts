// Decides when a certificate counts as about to expire: at a share of its lifetime, because lifetimes differ (398, 90 or 6 days). Pure.

const DAY_MS = 86_400_000;
/** An automatic renewal happens when a third is left, so it has failed for a while when a sixth is left. */
const WARN_SHARE = 1 / 6;
const WARN_MAX_MS = 30 * DAY_MS;

/** Both ends of the validity, epoch milliseconds. */
export interface CertificateLife {
  readonly validFromMs: number;
  readonly expiresAtMs: number;
}

/** How long before its end a certificate is warned of: a sixth of its lifetime, and 30 days at most. Milliseconds. */
export function warnBeforeMs({ validFromMs, expiresAtMs }: CertificateLife): number {
  return Math.min((expiresAtMs - validFromMs) * WARN_SHARE, WARN_MAX_MS);
}

/** `expiring`: it should have been renewed. `expired`: clients refuse it. */
export function stateOfLife(life: CertificateLife, nowMs: number): 'valid' | 'expiring' | 'expired' {
  const leftMs = life.expiresAtMs - nowMs;
  if (leftMs <= 0) return 'expired';
  return leftMs <= warnBeforeMs(life) ? 'expiring' : 'valid';
}
