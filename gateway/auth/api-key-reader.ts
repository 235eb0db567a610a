// Reads the credential kind "API key": `Authorization: Bearer sk_…`. Throws api_key_malformed, api_key_invalid or auth_unavailable.

import type { Caller } from '../caller.ts';
import { GatewayError } from '../errors.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { API_KEY_LENGTH } from './api-key.ts';
import type { Credentials } from './credentials.ts';
import type { Directory } from './directory.ts';

/** Returns the caller of a valid credential, undefined for a credential of another kind. Throws if it is of this kind but invalid. */
export type CredentialReader = (credentials: Credentials) => Awaitable<Caller> | undefined;

/** Takes every Bearer credential that the readers before it have left. */
export function createApiKeyReader(directory: Pick<Directory, 'callerOf'>): CredentialReader {
  return function readApiKey({ scheme, value }) {
    if (scheme !== 'bearer') return undefined;
    if (value.length !== API_KEY_LENGTH) throw new GatewayError('api_key_malformed');
    const caller = directory.callerOf(value);
    return caller instanceof Promise ? caller.then(existing) : existing(caller);
  };
}

function existing(caller: Caller | undefined): Caller {
  if (caller === undefined) throw new GatewayError('api_key_invalid');
  return caller;
}
