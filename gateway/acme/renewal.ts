// Computes when a certificate is renewed, and when a failed attempt is repeated. Pure. Times are epoch milliseconds, durations
// milliseconds.

import type { CertificateLife } from '../shared/certificate-life.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Without renewal information: the part of the lifetime after which a certificate is renewed, and the width of the jitter. */
const RENEW_AFTER = 2 / 3;
const JITTER = 1 / 30;
/** Renewal begins at this part of the lifetime at the latest, whatever the window says: a failure needs time for another attempt. */
const LATEST = 0.95;
/** A new certificate is not renewed within this part of its lifetime, whatever the server or the clock says: renewals would never end. */
const EARLIEST = { share: 1 / 24, mostMs: DAY_MS } as const;
/** Bounds for the interval between reads of renewal information (RFC 9773 section 4.3.2). */
const ASK_AGAIN = { least: MINUTE_MS, most: DAY_MS, otherwise: 6 * HOUR_MS } as const;

/** The suggested window of the server, with the moment in it that was chosen. */
export interface RenewalWindow {
  readonly startMs: number;
  readonly endMs: number;
  readonly selectedMs: number;
}

/**
 * When the certificate is due.
 *
 * @param issuedAtMs when it was received
 * @param share from 0 to 1: equal on all instances for one certificate, different among certificates
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
 * Chooses a moment of the window that the server suggests, and keeps the former one while the window stays the same. Undefined if the
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

/** How long until renewal information is read again. @param retryAfterMs undefined if the server did not say */
export function askAgainAfterMs(retryAfterMs: number | undefined): number {
  if (retryAfterMs === undefined) return ASK_AGAIN.otherwise;
  return Math.min(Math.max(retryAfterMs, ASK_AGAIN.least), ASK_AGAIN.most);
}

/**
 * `server`: it is away or fails; `refused`: it refuses the order or a challenge failed; `limited`: a rate limit. `server` applies to all
 * certificates, because it has nothing to do with their names.
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
  /** Failures in a row, this one included. */
  readonly failures: number;
  readonly retryAfterMs: number | undefined;
  readonly random: () => number;
}

/** The gateway waits no longer than this, even if the server asks for more; a record with a later time was written by a wrong clock. */
const LONGEST_WAIT_MS = 7 * DAY_MS;

/** Whether a time is in the future and near enough to be waited for. */
export function isToCome(atMs: number, nowMs: number): boolean {
  return atMs > nowMs && atMs <= nowMs + LONGEST_WAIT_MS;
}

/**
 * How long until the next attempt: twice as long each time, up to a quarter longer by chance, and never before the server's Retry-After.
 */
export function nextAttemptAfterMs({ kind, failures, retryAfterMs = 0, random }: Failed): number {
  const { firstMs, longestMs } = BACK_OFF[kind];
  const backOffMs = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs);
  return Math.min(Math.max(Math.round(backOffMs * (1 + random() / 4)), retryAfterMs), LONGEST_WAIT_MS);
}

/** Reads Retry-After (RFC 9110 section 10.2.3): seconds or a date. Undefined without a usable value. */
export function retryAfterMsOf(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
