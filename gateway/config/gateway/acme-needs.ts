// Checks the requirements of `tls.acme` outside of gateway.yaml: the authorities of its server, the names in certificate files, and
// secrets.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Mistake } from '../../shared/mistakes.ts';
import { remedyForEntry } from '../../shared/secret-names.ts';
import type { Config } from '../load.ts';
import { CERTIFICATE_KEY, externalAccountProblem } from './acme.ts';

type WithTls = Pick<Config, 'sources'> & { readonly gateway: Pick<Config['gateway'], 'tls'> };

/** Pushes a mistake for authorities that cannot be read, and for names that are also in a certificate file. */
export function checkAcmeFiles(
  { gateway, sources }: WithTls,
  certificates: readonly { readonly names: readonly string[] }[],
  directory: string,
  mistakes: Mistake[],
): void {
  const acme = gateway.tls?.acme;
  if (acme === undefined) return;
  try {
    readTrust(acme.trust, directory);
  } catch (error) {
    const remedy = 'Name a PEM file, relative to the configuration directory.';
    mistakes.push(sources.gateway.mistakeAt(['tls', 'acme', 'trust'], (error as Error).message, remedy));
  }
  const inFiles = new Set(certificates.flatMap(({ names }) => names));
  acme.certificates.forEach((names, index) => {
    names.forEach((name, at) => {
      if (!inFiles.has(name)) return;
      const reason = `a certificate under tls.certificates is for "${name}" already.`;
      const remedy = 'Remove the name here, or limit that certificate to other names with its key names.';
      mistakes.push(sources.gateway.mistakeAt(['tls', 'acme', 'certificates', index, at], reason, remedy));
    });
  });
}

/** Returns the text of the authorities; undefined without any. Throws an Error for operators. */
export function readTrust(trust: string | undefined, directory: string): string | undefined {
  if (trust === undefined) return undefined;
  const path = resolve(directory, trust);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new Error(`the file ${path} ${isAbsent ? 'does not exist' : 'cannot be read'}.`, { cause: error });
  }
  try {
    new X509Certificate(text);
    return text;
  } catch (cause) {
    throw new Error(`the file ${path} holds no certificate in PEM form.`, { cause });
  }
}

const KEY_LENGTH_MIN = 16;

/** A secret that the configuration names. */
export interface NamedSecret {
  readonly entry: string;
  /** Its purpose, as the end of a sentence. */
  readonly use: string;
  /** Returns why a value cannot be used, without the value itself; undefined for a usable value. */
  problemOf(value: string): string | undefined;
  /** Returns a mistake at the place in the configuration that names the secret. */
  mistake(reason: string): Mistake;
}

/**
 * Returns the needed secrets: the key that encrypts private keys in a shared store, and the key of an external account.
 *
 * @param isShared whether several instances share the store, so that all of them need the same `certificate_key`
 */
export function acmeSecrets(
  { gateway, sources }: Pick<Config, 'gateway' | 'sources'>,
  isShared: boolean,
): NamedSecret[] {
  const acme = gateway.tls?.acme;
  if (acme === undefined) return [];
  const command =
    'Make one with: (umask 077; openssl rand -base64 32 > "$SECRETS_DIR/certificate_key"), the same for all instances.';
  const sealing: NamedSecret = {
    entry: CERTIFICATE_KEY,
    use: 'what encrypts the private keys of certificates in Redis',
    problemOf: (value) =>
      value.length < KEY_LENGTH_MIN ? `it needs at least ${KEY_LENGTH_MIN} characters.` : undefined,
    mistake: (reason) => sources.gateway.mistakeAtKey(['tls', 'acme'], reason, command),
  };
  const { externalAccount } = acme;
  const account: NamedSecret[] = externalAccount
    ? [
        {
          entry: externalAccount.secret,
          use: 'the key of the external account at the ACME server',
          problemOf: externalAccountProblem,
          mistake: (reason) =>
            sources.gateway.mistakeAt(
              ['tls', 'acme', 'externalAccount', 'secret'],
              reason,
              remedyForEntry(externalAccount.secret),
            ),
        },
      ]
    : [];
  return isShared ? [sealing, ...account] : account;
}
