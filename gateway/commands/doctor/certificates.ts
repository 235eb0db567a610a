// Checks the remaining validity of certificates for clients and upstreams, and whether they cover the names in use.

import type { X509Certificate } from 'node:crypto';
import { certificatesIn } from '../../config/upstreams/upstream-tls.ts';
import type { Configuration } from '../../configuration.ts';
import { type CertificateLife, stateOfLife } from '../../shared/certificate-life.ts';
import { DAY_MS, HOUR_MS } from '../../shared/durations.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';

export function checkCertificates({ config, certificates, upstreamTls }: Configuration, nowMs: number): Finding[] {
  const shown = certificates.map((certificate) =>
    checkValidity(`certificate for ${certificate.names.join(', ') || 'clients'}`, certificate, nowMs),
  );
  const ofUpstreams = [...upstreamTls].flatMap(([name, { ca, certificate }]) =>
    [['ca', ca] as const, ['certificate', certificate] as const].flatMap(([key, text]) =>
      certificatesIn(text).map((one) => checkValidity(`upstreams.${name}.tls.${key}`, lifeOf(one), nowMs)),
    ),
  );
  const ordered = config.gateway.tls?.acme?.certificates.map((names) => ({ names })) ?? [];
  return [...shown, ...checkNames(config.gateway.publicUrl, [...certificates, ...ordered]), ...ofUpstreams];
}

/** Warns if less than a sixth of the lifetime is left, or less than 30 days if that is shorter. */
export function checkValidity(check: string, life: CertificateLife, nowMs: number): Finding {
  const state = stateOfLife(life, nowMs);
  if (state === 'expired') return fail(check, 'It has expired.', 'Renew it.');
  const leftMs = life.expiresAtMs - nowMs;
  // In the last three days, the finding counts hours.
  const left = leftMs < 3 * DAY_MS ? `${Math.floor(leftMs / HOUR_MS)} hours` : `${Math.floor(leftMs / DAY_MS)} days`;
  const says = `${left} are left.`;
  return state === 'valid' ? ok(check, says) : warn(check, says, 'Renew it.');
}

function lifeOf({ validFromDate, validToDate }: X509Certificate): CertificateLife {
  return { validFromMs: validFromDate.getTime(), expiresAtMs: validToDate.getTime() };
}

function checkNames(publicUrl: string, certificates: readonly { readonly names: readonly string[] }[]): Finding[] {
  if (certificates.length === 0) return [];
  const { hostname } = new URL(publicUrl);
  const covers = (name: string) =>
    name === hostname || (name.startsWith('*.') && hostname.replace(/^[^.]+/, '*') === name);
  if (certificates.some(({ names }) => names.some(covers)))
    return [ok('certificate names', `A certificate is for ${hostname}.`)];
  const says = `No certificate is for ${hostname}, the host of publicUrl.`;
  return [warn('certificate names', says, 'Have that name certified, or correct publicUrl.')];
}
