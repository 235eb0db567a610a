// Reads the public keys of a provider, and verifies ID tokens and logout tokens with them. The keys are read for the first token, and again
// when a token names an unknown key.

import { compactVerify, createRemoteJWKSet, customFetch } from 'jose';
import type { ServerMetadata } from 'openid-client';
import type { ProviderFetch } from './provider-fetch.ts';

export interface ProviderKeys {
  readonly find: ReturnType<typeof createRemoteJWKSet>;
  /** The asymmetric algorithms of the discovery document. Symmetric algorithms are left out, because their key could also sign tokens. */
  readonly algorithms: string[];
}

export function createProviderKeys(
  { issuer, jwks_uri: uri = issuer, id_token_signing_alg_values_supported: offered = ['RS256'] }: ServerMetadata,
  fetchFrom: ProviderFetch,
): ProviderKeys {
  return {
    find: createRemoteJWKSet(new URL(uri), { [customFetch]: fetchFrom as typeof fetch, cooldownDuration: 10_000 }),
    algorithms: offered.filter((algorithm) => /^(RS|PS|ES)\d+$|^EdDSA$|^Ed25519$/.test(algorithm)),
  };
}

/** Rejects with a reason, or ProviderAway if the keys cannot be read. */
export async function checkSignature(token: string, { find, algorithms }: ProviderKeys): Promise<void> {
  await compactVerify(token, find, { algorithms });
}
