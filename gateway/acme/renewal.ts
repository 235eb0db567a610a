// Computes the times of renewals, and of new attempts after failures. Pure. Times are epoch milliseconds, durations milliseconds.

import type { CertificateLife } from '../shared/certificate-life.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../shared/durations.ts';

/** Without renewal information, a certificate is renewed after this part of its lifetime, plus a jitter. */
const RENEW_AFTER = 2 / 3;
const JITTER = 1 / 30;
/** The latest renewal, as a part of the lifetime, even if the server suggests a later time: after a failure, another attempt needs time. */
const LATEST = 0.95;
/** The earliest renewal, as a part of the lifetime. Without it, a wrong suggestion or a wrong clock would cause endless renewals. */
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
 * @param share the jitter, from 0 to 1: for one certificate the same on all instances, for other certificates different
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
 * Chooses a moment in the window that the server suggests. Keeps the former moment while the window stays the same. Returns undefined if the
 * window ends before it begins (RFC 9773 section 4.2).
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

/**
 * `server`: the server is away or fails, which delays all certificates. `refused`: the server refused the order, or a challenge failed.
 * `limited`: a rate limit of the server.
 */
export type FailureKind = 'server' | 'refused' | 'limited';

const BACK_OFF: Readonly<Record<FailureKind, { readonly firstMs: number; readonly longestMs: number }>> = {
  server: { firstMs: 30_000, longestMs: HOUR_MS },
  // Let's Encrypt allows five failed validations of a name in an hour.
  refused: { firstMs: 3 * MINUTE_MS, longestMs: 12 * HOUR_MS },
  limited: { firstMs: HOUR_MS, longestMs: DAY_MS },
};

interface Failed {
  readonly kind: FailureKind;
  /** The number of failures in a row, including this one. */
  readonly failures: number;
  readonly retryAfterMs: number | undefined;
  readonly random: () => number;
}

/** The longest wait, even if the server asks for more. A record with a later time was written by a wrong clock. */
const LONGEST_WAIT_MS = 7 * DAY_MS;

/** Whether a time is in the future, and not beyond the longest wait. */
export function isToCome(atMs: number, nowMs: number): boolean {
  return atMs > nowMs && atMs <= nowMs + LONGEST_WAIT_MS;
}

/**
 * Returns the time until the next attempt: twice as long after each failure, with a jitter of up to a quarter, and never before Retry-After.
 */
export function nextAttemptAfterMs({ kind, failures, retryAfterMs = 0, random }: Failed): number {
  const { firstMs, longestMs } = BACK_OFF[kind];
  const backOffMs = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs);
  return Math.min(Math.max(Math.round(backOffMs * (1 + random() / 4)), retryAfterMs), LONGEST_WAIT_MS);
}

/** Parses Retry-After (RFC 9110 section 10.2.3): seconds or a date. Returns undefined if it is absent or malformed. */
export function retryAfterMsOf(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
