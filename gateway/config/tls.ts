// The shape of `tls` in gateway.yaml: HTTPS on the public listener, and what becomes of those who come without it.

import { z } from 'zod';
import type { Mistake } from '../config-errors.ts';
import type { Source } from '../source.ts';
import { whole } from './parts.ts';

const path = z.string().min(1, 'must be the path of a PEM file');

/** Exact, or with `*` in the place of its first label. */
const certifiedName = z
  .string()
  .regex(
    /^(?=.{1,253}$)(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
    'must be a host name in lower case, or one that begins with *.',
  );

export const certificate = z.strictObject({
  /** PEM, relative to the configuration directory: the certificate, then those of intermediate authorities. */
  certificate: path,
  /** PEM, not encrypted. */
  key: path,
  /** For whom it is shown; default: the names that stand in it. */
  names: z.array(certifiedName).min(1, 'must list at least one name').optional(),
});

export const tls = z.strictObject({
  /** The first one is for whoever asks for a name that none is for, or for none. */
  certificates: z.array(certificate).min(1, 'must list at least one certificate'),
  minVersion: z.enum(['TLSv1.2', 'TLSv1.3']).default('TLSv1.2'),
  /** From the connection to the end of its handshake. */
  handshakeMs: whole('milliseconds', 100, 600_000).default(10_000),
  /** A listener without TLS beside it, on the same host. */
  plain: z
    .strictObject({
      port: whole('', 0, 65_535),
      /** Whether those who read without credentials are sent to the same place by HTTPS; everybody else is refused. */
      mode: z.enum(['redirect', 'refuse']).default('redirect'),
    })
    .optional(),
});

export type Tls = z.output<typeof tls>;

/** Who comes by HTTPS must not be pointed at addresses without it. Pushes mistakes. */
export function checkTls(given: Tls | undefined, publicUrl: string, source: Source, mistakes: Mistake[]): void {
  if (given === undefined || publicUrl.startsWith('https://')) return;
  const reason = `with tls clients come by HTTPS, and "${publicUrl}" is not such an address.`;
  mistakes.push(source.mistakeAt(['publicUrl'], reason, 'Set publicUrl to the https:// address that clients use.'));
}
