// Authenticates the gateway at a provider: with a secret, or with a signature by a private key (RFC 7523).

import { importJWK, type JWK } from 'jose';
import type * as OpenidClient from 'openid-client';
import { isRecord } from '../../shared/is-record.ts';
import type { ProviderSettings } from '../settings.ts';

type Authentication = ProviderSettings['authentication'];

/** Returns the reason why a secret cannot be used, as a sentence without the value; undefined for a usable secret. */
export function clientSecretProblem({ method }: Authentication, secret: string): string | undefined {
  if (method !== 'private_key_jwt') return undefined;
  const key = parseKey(secret);
  if (key === undefined) return 'it is not a JWK, a JSON object.';
  if (typeof key.d !== 'string') return 'it is not a private key: it has no member d.';
  return typeof key.alg === 'string' && typeof key.kid === 'string'
    ? undefined
    : 'it has no alg or no kid, by which the provider finds its public half.';
}

/** Rejects if `clientSecretProblem` does not accept the secret. */
export async function clientAuthentication(
  library: typeof OpenidClient,
  { method }: Authentication,
  secret: string,
): Promise<OpenidClient.ClientAuth> {
  if (method === 'client_secret_basic') return library.ClientSecretBasic(secret);
  if (method === 'client_secret_post') return library.ClientSecretPost(secret);
  const key = JSON.parse(secret) as JWK & { alg: string; kid: string };
  return library.PrivateKeyJwt({ key: (await importJWK(key)) as OpenidClient.CryptoKey, kid: key.kid });
}

function parseKey(text: string): JWK | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? (value as JWK) : undefined;
  } catch {
    return undefined;
  }
}
