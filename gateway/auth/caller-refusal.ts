// Pure: why a caller is refused everywhere, whatever the operation.

import type { ErrorCode } from '../error-catalogue.ts';
import type { Caller } from '../exchange.ts';

/** Returns the code of the refusal, undefined for a caller in good order. A tunnel and an operation refuse the same callers. */
export function callerRefusal(caller: Caller, clientAddress: string, nowMs: number): ErrorCode | undefined {
  // Check the key before the organization: 401 says that another key would help, 403 that it would not.
  if (caller.revoked) return 'api_key_revoked';
  if (caller.expiresAtMs <= nowMs) return caller.issuer === undefined ? 'api_key_expired' : 'token_expired';
  if (caller.allowsAddress?.(clientAddress) === false) return 'ip_not_allowed';
  return caller.organization?.state === 'suspended' ? 'account_inactive' : undefined;
}
