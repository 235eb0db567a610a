// The secrets of `tls.acme`: what encrypts private keys in a shared store, and the key of an external account.

import { CERTIFICATE_KEY, externalAccountProblem } from '../config/acme.ts';
import type { Config } from '../config/load.ts';
import type { Mistake } from '../config-errors.ts';

const KEY_LENGTH_MIN = 16;

interface AcmeSecret {
  readonly entry: string;
  readonly use: string;
  problemOf(value: string): string | undefined;
  mistake(reason: string): Mistake;
}

/** @param isShared whether several instances share the store: each of them needs the same `certificate_key` */
export function acmeSecrets(
  { gateway, sources }: Pick<Config, 'gateway' | 'sources'>,
  isShared: boolean,
): AcmeSecret[] {
  const acme = gateway.tls?.acme;
  if (acme === undefined) return [];
  const command =
    'Make one with: (umask 077; openssl rand -base64 32 > "$SECRETS_DIR/certificate_key"), the same for all instances.';
  const sealing: AcmeSecret = {
    entry: CERTIFICATE_KEY,
    use: 'what encrypts the private keys of certificates in Redis',
    problemOf: (value) =>
      value.length < KEY_LENGTH_MIN ? `it needs at least ${KEY_LENGTH_MIN} characters.` : undefined,
    mistake: (reason) => sources.gateway.mistakeAtKey(['tls', 'acme'], reason, command),
  };
  const { externalAccount } = acme;
  const remedy = (entry: string) => `Put it into the file SECRETS_DIR/${entry} or the variable ${entry.toUpperCase()}.`;
  const account: AcmeSecret[] = externalAccount
    ? [
        {
          entry: externalAccount.secret,
          use: 'the key of the external account at the ACME server',
          problemOf: externalAccountProblem,
          mistake: (reason) =>
            sources.gateway.mistakeAt(
              ['tls', 'acme', 'externalAccount', 'secret'],
              reason,
              remedy(externalAccount.secret),
            ),
        },
      ]
    : [];
  return isShared ? [sealing, ...account] : account;
}
