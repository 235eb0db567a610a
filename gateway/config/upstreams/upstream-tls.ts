// Defines the shape of `tls` in upstreams.yaml, for TLS toward upstreams, and reads and checks the files that it names.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isServerOfEntry } from '../../shared/contracts/upstreams.ts';
import { shownPath } from '../../shared/file-text.ts';
import type { Mistake } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { secretEntry } from '../parts.ts';
import { serversOf, type WithServers } from './servers.ts';

const path = z.string().min(1, 'must be the path of a PEM file').meta({ values: 'path of a PEM file' });

export const upstreamTls = z.strictObject({
  ca: path.optional().describe('The trusted certificate authorities, which replace the default ones.'),
  certificate: path
    .optional()
    .describe('The client certificate that the gateway presents, followed by intermediate certificates.'),
  key: z
    .union(
      [path, z.strictObject({ secret: secretEntry.describe('The entry of the secrets store that holds the key.') })],
      {
        error: 'must be the path of a PEM file, or { secret: <entry> }',
      },
    )
    .optional()
    .meta({
      description: 'The private key of the client certificate, not encrypted.',
      values: 'path of a PEM file, or `{ secret: <entry> }`',
    }),
  serverName: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]{0,252}[a-z0-9])?$/, 'must be a host name in lower case')
    .optional()
    .meta({
      description: 'The name that the certificate of the upstream must have. Default: the host of the address.',
      values: 'host name',
    }),
});

interface UpstreamWithTls extends WithServers {
  readonly live: readonly string[];
  readonly test?: readonly string[] | undefined;
  readonly tls?: z.output<typeof upstreamTls> | undefined;
}

/** The contents of the files, in PEM. */
export interface UpstreamTls {
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** The entry of the secrets store, if the key is not in a file. */
  readonly keySecret?: string | undefined;
  readonly serverName?: string | undefined;
  /** Absolute paths. */
  readonly files: readonly string[];
}

/** Reads the files of all entries. Pushes mistakes, and leaves out entries with mistakes. */
export function readUpstreamTls(
  upstreams: Readonly<Record<string, UpstreamWithTls>>,
  directory: string,
  source: Source,
  mistakes: Mistake[],
): ReadonlyMap<string, UpstreamTls> {
  const settings = new Map<string, UpstreamTls>();
  for (const [name, entry] of Object.entries(upstreams)) {
    const { live, test = [], tls } = entry;
    const further = serversOf(name, entry);
    if (tls === undefined) continue;
    const before = mistakes.length;
    const at = ['upstreams', name, 'tls'];
    const complain = (key: string | undefined, reason: string, remedy: string) =>
      mistakes.push(
        key === undefined ? source.mistakeAtKey(at, reason, remedy) : source.mistakeAt([...at, key], reason, remedy),
      );
    const all = [...live, ...test, ...further.flatMap((one) => [...one.live, ...(one.test ?? [])])];
    if (!all.some((address) => address.startsWith('https://')))
      complain(
        undefined,
        'none of the addresses of this upstream is https://.',
        'Write https:// there, or remove tls.',
      );
    const read = readOne(tls, directory, complain);
    if (mistakes.length > before) continue;
    settings.set(name, read);
    // `serverName` is not taken over, because it is the name in the certificate of the entry's own servers.
    for (const { upstream } of further) settings.set(upstream, { ...read, serverName: undefined });
  }
  return settings;
}

type Complain = (key: string | undefined, reason: string, remedy: string) => void;

function readOne(tls: z.output<typeof upstreamTls>, directory: string, complain: Complain): UpstreamTls {
  const files: string[] = [];
  const read = (key: 'ca' | 'certificate' | 'key', file: string | undefined) => {
    if (file === undefined) return undefined;
    const absolute = resolve(directory, file);
    files.push(absolute);
    try {
      return readFileSync(absolute, 'utf8');
    } catch (error) {
      const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
      const reason = `${shownPath(absolute)} ${isAbsent ? 'does not exist' : 'cannot be read'}.`;
      complain(key, reason, 'Create the file, or correct the path, which is relative to the configuration directory.');
      return undefined;
    }
  };
  const isSecret = typeof tls.key === 'object';
  const ca = read('ca', tls.ca);
  const certificate = read('certificate', tls.certificate);
  const key = read('key', typeof tls.key === 'string' ? tls.key : undefined);
  for (const [name, text] of [['ca', ca] as const, ['certificate', certificate] as const]) {
    if (text === undefined || certificatesIn(text).length > 0) continue;
    complain(name, 'this file holds no certificate in PEM.', 'It must begin with -----BEGIN CERTIFICATE-----.');
  }
  if ((tls.certificate === undefined) !== (tls.key === undefined)) {
    const [present, missing] = tls.key === undefined ? ['certificate', 'key'] : ['key', 'certificate'];
    complain(present, `there is no ${missing} to this ${present}.`, `Add "${missing}: …" here, or remove both.`);
  } else if (key !== undefined && certificate !== undefined) {
    const problem = keyProblem(certificate, key);
    if (problem !== undefined)
      complain('key', problem, 'Name the file with the private key of this certificate in PEM, not encrypted.');
  }
  const keySecret = isSecret ? (tls.key as { secret: string }).secret : undefined;
  return { ca, certificate, key, keySecret, serverName: tls.serverName, files };
}

/** Returns the fault of a key; undefined if the key belongs to the (first) certificate. */
export function keyProblem(certificate: string, key: string): string | undefined {
  let parsed: KeyObject;
  try {
    parsed = createPrivateKey(key);
  } catch {
    return 'this is no private key in PEM that can be read without a password.';
  }
  const [first] = certificatesIn(certificate);
  return first === undefined || first.checkPrivateKey(parsed)
    ? undefined
    : 'the key does not belong to the certificate.';
}

/**
 * Returns one sentence per certificate that is expired or not yet valid, so that upstreams will refuse the gateway, or the gateway will
 * refuse upstreams.
 */
export function untimelyTls(all: ReadonlyMap<string, UpstreamTls>, nowMs: number): string[] {
  const entries = [...all].filter(([name]) => !isServerOfEntry(name));
  return entries.flatMap(([name, { ca, certificate }]) =>
    [['ca', ca] as const, ['certificate', certificate] as const].flatMap(([key, text]) =>
      certificatesIn(text).flatMap((one) => {
        const what = `upstreams.${name}.tls.${key}: the certificate of ${one.subject.replaceAll('\n', ', ')}`;
        if (one.validToDate.getTime() <= nowMs) return [`${what} has expired on ${dayOf(one.validToDate)}. Renew it.`];
        if (one.validFromDate.getTime() > nowMs) return [`${what} is valid from ${dayOf(one.validFromDate)} only.`];
        return [];
      }),
    ),
  );
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Returns the certificates of a file in PEM. Returns an empty list if a certificate cannot be read. */
export function certificatesIn(text = ''): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return [];
  }
}
