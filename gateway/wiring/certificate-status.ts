// The status of certificates in `/status`, and the warnings before they expire.

import type { Certificate } from '../edge/tls/certificate.ts';
import type { Log } from '../observe/log/log.ts';
import { stateOfLife, warnBeforeMs } from '../shared/certificate-life.ts';
import { DAY_MS } from '../shared/durations.ts';
import { isoTime } from '../shared/text.ts';

const CHECK_EVERY_MS = 600_000;
/** The maximum number of warnings before the expiry. For a certificate of 90 days, this is one warning a day. */
const WARNINGS_MAX = 15;

export interface CertificateStatus {
  readonly names: readonly string[];
  /** File of a certificate that is read from files. */
  readonly file?: string;
  /** The server that issues a certificate which the gateway orders. */
  readonly acme?: string;
  /** `missing`: no certificate has been issued yet. `expiring`: a sixth of the lifetime is left, 30 days at most. */
  readonly state: 'valid' | 'expiring' | 'expired' | 'revoked' | 'missing';
  readonly valid_from: string | null;
  readonly expires_at: string | null;
  readonly days_left: number | null;
  /** When the gateway renews a certificate that it orders. */
  readonly renews_at?: string | null;
  /** Reason why the current files are not in use, or why the last order failed; null if there is none. */
  readonly last_failure: {
    readonly at: string;
    readonly reason: string;
    readonly failures?: number;
    readonly next_attempt_at?: string;
  } | null;
}

type Life = Pick<Certificate, 'names' | 'validFromMs' | 'expiresAtMs'>;

export function lifeStatusOf(certificate: Life, nowMs: number) {
  const { names, validFromMs, expiresAtMs } = certificate;
  return {
    names,
    state: stateOfLife(certificate, nowMs),
    valid_from: isoTime(validFromMs),
    expires_at: isoTime(expiresAtMs),
    days_left: Math.floor((expiresAtMs - nowMs) / DAY_MS),
  };
}

type CertificateLives = readonly (readonly [certificate: string, life: Life & Pick<Certificate, 'fingerprint'>])[];

/**
 * Logs a warning for each certificate that is about to expire, and an error for each that has expired. The number of lines for one
 * certificate is bounded.
 *
 * @param list the certificates in use, by the names in log lines
 * @returns `check` checks them at once; a timer checks them, too, until `stop`
 */
export function watchExpiry(logger: Log['logger'], now: () => number, list: () => CertificateLives) {
  const warned = new Map<string, string>();

  function warnOf([certificate, life]: CertificateLives[number]): void {
    const { names, expiresAtMs, fingerprint } = life;
    const leftMs = expiresAtMs - now();
    if (stateOfLife(life, now()) === 'valid') return;
    const step = `${fingerprint} ${Math.floor(leftMs / (warnBeforeMs(life) / WARNINGS_MAX))}`;
    if (warned.get(certificate) === step) return;
    warned.set(certificate, step);
    const days_left = Math.floor(leftMs / DAY_MS);
    const fields = { certificate, names, expires_at: isoTime(expiresAtMs), days_left };
    if (leftMs > 0) logger.warn(fields, 'a certificate is about to expire');
    else logger.error(fields, 'a certificate has expired');
  }

  const check = () => list().forEach(warnOf);
  const clock = setInterval(check, CHECK_EVERY_MS).unref();
  check();
  return { check, stop: () => clearInterval(clock) };
}
