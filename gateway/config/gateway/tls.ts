// The shape of `tls` in gateway.yaml, for HTTPS on the public listener and the handling of plain HTTP.

import { z } from 'zod';
import type { Mistake } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { whole } from '../parts.ts';
import { acme, checkAcme } from './acme.ts';

const path = z
  .string()
  .min(1, 'must be the path of a PEM file')
  .meta({ values: 'path of a PEM file, relative to the configuration directory' });

/** An exact host name, or a name with `*` as its first label. */
const certifiedName = z
  .string()
  .regex(
    /^(?=.{1,253}$)(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
    'must be a host name in lower case, or one that begins with *.',
  );

export const certificate = z.strictObject({
  certificate: path.describe('The certificate, followed by the certificates of intermediate authorities.'),
  key: path.describe(
    'The private key, not encrypted. To keep it among the secrets, begin the path with the variable `SECRETS_DIR`.',
  ),
  names: z.array(certifiedName).min(1, 'must list at least one name').optional().meta({
    description: 'The server names that the certificate is used for. Default: the names in the certificate.',
    values: "host names; `'*.example.com'` for one label",
  }),
});

export const tls = z.strictObject({
  certificates: z.array(certificate).min(1, 'must list at least one certificate').optional().meta({
    description:
      'Certificates in files. The first one is used if a client sends no server name or an unknown one. Required without `acme`.',
    values: 'list of certificates',
  }),
  acme: acme.optional().meta({
    description: 'Certificates that the gateway orders and renews itself ([HTTPS](tls.md)).',
    values: '`{ directory, termsOfServiceAgreed, certificates, … }`',
  }),
  minVersion: z.enum(['TLSv1.2', 'TLSv1.3']).default('TLSv1.2').describe('The oldest TLS version that is accepted.'),
  handshakeMs: whole('milliseconds', 100, 600_000)
    .default(10_000)
    .describe('The time from the connection to the end of its TLS handshake.'),
  plain: z
    .strictObject({
      port: whole('', 0, 65_535).describe('The port of the plain listener. 0: a free port.'),
      mode: z
        .enum(['redirect', 'refuse'])
        .default('redirect')
        .describe(
          '`redirect`: GET and HEAD without credentials are redirected to HTTPS (308), every other request gets 403 `tls_required`. `refuse`: every request gets 403.',
        ),
    })
    .optional()
    .meta({ description: 'An additional listener without TLS, on the same host.', values: '`{ port, mode }`' }),
});

export type Tls = z.output<typeof tls>;

/**
 * Requires certificates or `acme`, and an https:// publicUrl, because links for clients that use HTTPS must not lead to plain HTTP. Pushes
 * mistakes.
 */
export function checkTls(given: Tls | undefined, publicUrl: string, source: Source, mistakes: Mistake[]): void {
  if (given === undefined) return;
  if (given.acme !== undefined) checkAcme(given.acme, given.plain !== undefined, source, mistakes);
  else if (given.certificates === undefined) {
    const reason = 'there is no certificate to show.';
    mistakes.push(source.mistakeAtKey(['tls'], reason, 'Add acme, or certificates with their files.'));
  }
  if (publicUrl.startsWith('https://')) return;
  const reason = `with tls, clients use HTTPS, but "${publicUrl}" is not an https:// address.`;
  mistakes.push(source.mistakeAt(['publicUrl'], reason, 'Set publicUrl to the https:// address that clients use.'));
}
