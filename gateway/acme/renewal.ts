// Computes the times of renewals. Pure. Times are epoch milliseconds, durations milliseconds.

import type { CertificateLife } from '../shared/certificate-life.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../shared/durations.ts';

/** Without renewal information, a certificate is renewed after this part of its lifetime, plus a jitter. */
const RENEW_AFTER = 2 / 3;
const JITTER = 1 / 30;
/**
 * The latest renewal, as a part of the lifetime, even if the server suggests a later time, because after a failure, another attempt needs
 * time.
 */
const LATEST = 0.95;
/**
 * The earliest renewal, as a part of the lifetime. Without this bound, a wrong suggestion or a wrong clock would cause endless renewals.
 */
const EARLIEST = { share: 1 / 24, mostMs: DAY_MS } as const;
/** Bounds for the interval between reads of renewal information (RFC 9773 section 4.3.2). */
const ASK_AGAIN = { least: MINUTE_MS, most: DAY_MS, otherwise: 6 * HOUR_MS } as const;

/** The window that the server suggests, and the moment that the gateway has chosen in it. */
export interface RenewalWindow {
  readonly startMs: number;
  readonly endMs: number;
  readonly selectedMs: number;
}

/**
 * Returns the time of the renewal.
 *
 * @param issuedAtMs the time at which the gateway received the certificate
 * @param share the jitter, from 0 to 1, which is the same on all instances for one certificate, and different for other certificates
 */
export function renewAtMs(
  life: CertificateLife,
  issuedAtMs: number,
  window: RenewalWindow | undefined,
  share: number,
): number {
  const { validFromMs, expiresAtMs } = life;
  const lifetimeMs = expiresAtMs - validFromMs;
  const earliestMs = issuedAtMs + Math.min(lifetimeMs * EARLIEST.share, EARLIEST.mostMs);
  const wantedMs =
    window === undefined
      ? validFromMs + lifetimeMs * (RENEW_AFTER + JITTER * share)
      : Math.min(window.selectedMs, validFromMs + lifetimeMs * LATEST);
  return Math.round(Math.max(wantedMs, earliestMs));
}

/**
 * Chooses a moment in the window that the server suggests. Keeps the former moment while the window stays the same. Returns undefined if
 * the window ends before it begins (RFC 9773 section 4.2).
 */
export function selectMoment(
  { start, end }: { readonly start: string; readonly end: string },
  former: RenewalWindow | undefined,
  random: () => number,
): RenewalWindow | undefined {
  const startMs = Date.parse(start);
  const endMs = Date.parse(end);
  if (!(endMs > startMs)) return undefined;
  if (former?.startMs === startMs && former.endMs === endMs) return former;
  return { startMs, endMs, selectedMs: Math.round(startMs + random() * (endMs - startMs)) };
}

/** Returns the time until the next read of renewal information. @param retryAfterMs undefined if the server sent no Retry-After */
export function askAgainAfterMs(retryAfterMs: number | undefined): number {
  if (retryAfterMs === undefined) return ASK_AGAIN.otherwise;
  return Math.min(Math.max(retryAfterMs, ASK_AGAIN.least), ASK_AGAIN.most);
}
