// The shape of `tls.acme` in gateway.yaml, for certificates that the gateway itself orders and renews (RFC 8555).

import { isIP } from 'node:net';
import { z } from 'zod';
import type { Mistake } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { secretEntry } from '../parts.ts';

const DIRECTORIES = {
  letsencrypt: 'https://acme-v02.api.letsencrypt.org/directory',
  'letsencrypt-staging': 'https://acme-staging-v02.api.letsencrypt.org/directory',
} as const;
/** The maximum number of names that Let's Encrypt accepts. */
const NAMES_MAX = 100;
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;
/** The address of a directory, which must be a URL for `https` requests. */
const DIRECTORY_URL = /^https:\/\/[^/?#\s@]+(\/[^\s#]*)?$/;

const orderedName = z.string().check((context) => {
  const refuse = (message: string) => void context.issues.push({ code: 'custom', message, input: context.value });
  if (context.value.startsWith('*'))
    refuse(
      'must be a host name: a wildcard needs a DNS challenge, which the gateway does not answer. List the names, or name the files of a certificate under tls.certificates',
    );
  else if (isIP(context.value) !== 0 || !HOST_NAME.test(context.value)) refuse('must be a host name in lower case');
});

const nameLists = z
  .array(
    z.array(orderedName).min(1, 'must list at least one name').max(NAMES_MAX, `must list at most ${NAMES_MAX} names`),
  )
  .min(1, 'must list the names of at least one certificate')
  .check(({ value, issues }) => {
    const seen = new Set<string>();
    value.forEach((names, index) => {
      names.forEach((name, at) => {
        if (seen.has(name))
          issues.push({
            code: 'custom',
            message: 'must be in one list, and once',
            input: name,
            path: [index, at],
          });
        seen.add(name);
      });
    });
  });

export const acme = z.strictObject({
  directory: z
    .string()
    .refine(
      (text) => text in DIRECTORIES || (DIRECTORY_URL.test(text) && URL.canParse(text)),
      'must be letsencrypt, letsencrypt-staging, or the https:// address of the directory of an ACME server',
    )
    .describe('The ACME server that issues the certificates.')
    .meta({ values: '`letsencrypt`, `letsencrypt-staging` or an `https://` address' }),
  trust: z
    .string()
    .min(1, 'must be the path of a PEM file')
    .optional()
    .describe('Further authorities that the certificate of the ACME server may come from.')
    .meta({ values: 'path of a PEM file, relative to the configuration directory' }),
  contacts: z
    .array(z.string().regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'must be an email address'))
    .default([])
    .describe('Addresses at which the operator of the ACME server can reach you.')
    .meta({ values: 'email addresses' }),
  termsOfServiceAgreed: z
    .boolean('must be true')
    .refine(
      (isAgreed) => isAgreed,
      'must be true: an ACME server makes no account for an operator who has not agreed to its terms of service',
    )
    .describe('You agree to the terms of service of the ACME server.')
    .meta({ values: '`true`' }),
  certificates: nameLists
    .describe('The names of each certificate. No wildcards: they need a DNS challenge.')
    .meta({ values: 'lists of host names, one list for each certificate' }),
  challenge: z
    .enum(['tls-alpn-01', 'http-01'])
    .default('tls-alpn-01')
    .describe(
      'How the server validates a name: in a TLS handshake on port 443, or by a request to port 80, which `tls.plain` has to answer.',
    ),
  externalAccount: z
    .strictObject({
      keyId: z.string().min(1, 'must be the key identifier that the server gave you').describe('The key identifier.'),
      secret: secretEntry.describe('The secrets entry that holds the MAC key, in base64url.'),
    })
    .optional()
    .describe('The account that the operator of the ACME server made for you, if it requires one.')
    .meta({ values: '`{ keyId, secret }`' }),
});

export type Acme = z.output<typeof acme>;

/** The secrets entry that encrypts private keys in the store. */
export const CERTIFICATE_KEY = 'certificate_key';

/** Returns the address of the directory. */
export function directoryUrlOf({ directory }: Pick<Acme, 'directory'>): string {
  return DIRECTORIES[directory as keyof typeof DIRECTORIES] ?? directory;
}

/** Refuses http-01 without a listener that could answer it. Pushes mistakes. */
export function checkAcme(given: Acme, hasPlain: boolean, source: Source, mistakes: Mistake[]): void {
  if (given.challenge !== 'http-01' || hasPlain) return;
  const reason = 'http-01 is answered by the plain listener, and there is none.';
  const remedy = 'Add plain: { port: 80 } under tls, or use tls-alpn-01.';
  mistakes.push(source.mistakeAt(['tls', 'acme', 'challenge'], reason, remedy));
}

/** Returns why a value cannot be the key of an external account; undefined for a usable value. */
export function externalAccountProblem(value: string): string | undefined {
  return /^[A-Za-z0-9_-]{16,}={0,2}$/.test(value) ? undefined : 'it is not a MAC key in base64url.';
}
