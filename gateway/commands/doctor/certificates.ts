// Checks the certificates for clients and upstreams: their remaining validity, and whether they cover the names in use.

import { X509Certificate } from 'node:crypto';
import type { Configuration } from '../../configuration.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';

const DAY_MS = 86_400_000;
const DAYS_WANTED = 14;

export function checkCertificates({ config, certificates, upstreamTls }: Configuration, nowMs: number): Finding[] {
  const shown = certificates.map(({ names, expiresAtMs }) =>
    checkValidity(`certificate for ${names.join(', ') || 'clients'}`, expiresAtMs, nowMs),
  );
  const ofUpstreams = [...upstreamTls].flatMap(([name, { ca, certificate }]) =>
    [['ca', ca] as const, ['certificate', certificate] as const].flatMap(([key, text]) =>
      certificatesIn(text).map((one) =>
        checkValidity(`upstreams.${name}.tls.${key}`, one.validToDate.getTime(), nowMs),
      ),
    ),
  );
  return [...shown, ...checkNames(config.gateway.publicUrl, certificates), ...ofUpstreams];
}

/** @param untilMs end of validity, epoch milliseconds */
export function checkValidity(check: string, untilMs: number, nowMs: number): Finding {
  const days = Math.floor((untilMs - nowMs) / DAY_MS);
  if (days < 0) return fail(check, 'It has expired.', 'Renew it.');
  const says = `${days} days are left.`;
  return days >= DAYS_WANTED ? ok(check, says) : warn(check, says, 'Renew it.');
}

function checkNames(publicUrl: string, certificates: Configuration['certificates']): Finding[] {
  if (certificates.length === 0) return [];
  const { hostname } = new URL(publicUrl);
  const covers = (name: string) =>
    name === hostname || (name.startsWith('*.') && hostname.replace(/^[^.]+/, '*') === name);
  if (certificates.some(({ names }) => names.some(covers)))
    return [ok('certificate names', `A certificate is for ${hostname}.`)];
  const says = `No certificate is for ${hostname}, the host of publicUrl.`;
  return [warn('certificate names', says, 'Have that name certified, or correct publicUrl.')];
}

function certificatesIn(text = ''): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
