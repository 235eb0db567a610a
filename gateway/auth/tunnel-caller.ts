// Finds the caller of a tunnelled request, if it carries an API key or token of the gateway. A tunnel requires neither, because it passes
// on the service's own credentials.

import { GatewayError } from '../catalogue/errors.ts';
import type { Caller } from '../exchange/caller.ts';
import type { Admitted } from '../exchange/exchange.ts';
import { readApiKey } from './authenticate.ts';
import { callerRefusal } from './authorize.ts';
import { type CredentialReader, parseAuthorization } from './credentials.ts';
import type { Directory } from './directory.ts';

interface TunnelCallerOptions {
  readonly directory: Pick<Directory, 'callerOf'>;
  readonly readToken: CredentialReader;
  now(): number;
}

interface TunnelCaller {
  readonly caller: Caller;
  /** Whether the caller may call; false if it is revoked, expired, suspended, or not allowed from this address. */
  readonly isAllowed: boolean;
}

/** Resolves with undefined for a credential that the gateway does not know. Rejects with auth_unavailable if the store cannot be read. */
export type CallerOfTunnel = (
  admitted: Pick<Admitted, 'headers' | 'clientAddress'>,
) => Promise<TunnelCaller | undefined>;

export function createCallerOfTunnel({ directory, readToken, now }: TunnelCallerOptions): CallerOfTunnel {
  return async function callerOfTunnel({ headers, clientAddress }) {
    const credentials = parseAuthorization(headers.get('authorization'));
    if (credentials?.scheme !== 'bearer') return undefined;
    try {
      const caller = await (readToken(credentials) ?? readApiKey(credentials, directory));
      if (caller === undefined) return undefined;
      return { caller, isAllowed: callerRefusal(caller, clientAddress, now()) === undefined };
    } catch (error) {
      if (error instanceof GatewayError && error.code !== 'auth_unavailable') return undefined;
      throw error;
    }
  };
}
