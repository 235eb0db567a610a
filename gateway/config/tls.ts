// The shape of `tls` in gateway.yaml: HTTPS on the public listener, and the handling of plain HTTP.

import { z } from 'zod';
import type { Mistake } from '../config-errors.ts';
import type { Source } from '../shared/yaml-source.ts';
import { whole } from './parts.ts';

const path = z.string().min(1, 'must be the path of a PEM file');

/** An exact name, or one with `*` as its first label. */
const certifiedName = z
  .string()
  .regex(
    /^(?=.{1,253}$)(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
    'must be a host name in lower case, or one that begins with *.',
  );

export const certificate = z.strictObject({
  /** PEM file, relative to the configuration directory: the certificate, then intermediate certificates. */
  certificate: path,
  /** PEM file, not encrypted. */
  key: path,
  /** The server names that it is used for; default: the names in the certificate. */
  names: z.array(certifiedName).min(1, 'must list at least one name').optional(),
});

export const tls = z.strictObject({
  /** The first certificate is used for clients that send no server name or an unknown one. */
  certificates: z.array(certificate).min(1, 'must list at least one certificate'),
  minVersion: z.enum(['TLSv1.2', 'TLSv1.3']).default('TLSv1.2'),
  /** From the connection to the end of its handshake. */
  handshakeMs: whole('milliseconds', 100, 600_000).default(10_000),
  /** An additional listener without TLS, on the same host. */
  plain: z
    .strictObject({
      port: whole('', 0, 65_535),
      /** redirect: redirects reading requests without credentials to HTTPS and refuses all others. */
      mode: z.enum(['redirect', 'refuse']).default('redirect'),
    })
    .optional(),
});

export type Tls = z.output<typeof tls>;

/** Requires an https:// publicUrl, because clients that use HTTPS must not be sent to plain HTTP addresses. Pushes mistakes. */
export function checkTls(given: Tls | undefined, publicUrl: string, source: Source, mistakes: Mistake[]): void {
  if (given === undefined || publicUrl.startsWith('https://')) return;
  const reason = `with tls, clients use HTTPS, but "${publicUrl}" is not an https:// address.`;
  mistakes.push(source.mistakeAt(['publicUrl'], reason, 'Set publicUrl to the https:// address that clients use.'));
}
