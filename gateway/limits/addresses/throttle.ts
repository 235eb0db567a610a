// Stage: refuses an address that the gateway itself has refused too often. Throws auth_attempts_limited. login-throttle.ts limits failed
// logins by the same class, `FailureLimit`.

import type { GatewayError } from '../../catalogue/errors.ts';
import type { Admitted, Arrived } from '../../exchange/exchange.ts';
import { FailureLimit, type FailureLimitOptions } from './failure-limit.ts';

/** The statuses that are counted, which refuse a credential, a permission, a path or a method. */
const COUNTED_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 405]);

export interface ThrottleOptions extends Omit<FailureLimitOptions, 'name'> {
  /**
   * Whether the request carries a credential that is known to be valid (wiring/identity.ts). Such a request passes, because otherwise one
   * bad client would lock out all clients behind the same address.
   */
  readonly isKnownCaller: (admitted: Admitted) => boolean;
  /**
   * Whether the key store has lost its contents. Refusals of unknown credentials are then not counted, because a client with a valid
   * credential would stay blocked after the keys are restored. Attackers gain nothing: an empty store accepts no key. All other refusals
   * are counted, and blocked addresses stay blocked.
   */
  readonly mayLackKeys: () => boolean;
}

export interface Throttle {
  throttle(admitted: Admitted): void;
  /** Counts a refusal against the client's address if its status is a counted one. */
  countRefusal(arrived: Pick<Arrived, 'clientAddress'>, error: GatewayError): void;
}

export function createThrottle({ isKnownCaller, mayLackKeys, ...options }: ThrottleOptions): Throttle {
  const failures = new FailureLimit({ ...options, name: 'address' });
  return {
    throttle(admitted) {
      const { clientAddress } = admitted;
      if (failures.isBlocked(clientAddress) && !isKnownCaller(admitted)) throw failures.refusalOf(clientAddress);
    },
    countRefusal({ clientAddress }, error) {
      if (clientAddress === undefined || !COUNTED_STATUSES.has(error.entry.status)) return;
      if (isUnknownCredential(error) && mayLackKeys()) return;
      // The gateway itself has permitted a caller that an upstream refuses.
      if (!error.details.refusedByUpstream) void failures.countFailure(clientAddress);
    },
  };
}

/** Whether the key store has neither the key nor the organization of the token. */
function isUnknownCredential({ code, details }: GatewayError): boolean {
  return code === 'api_key_invalid' || (code === 'token_invalid' && details.hint === 'organization');
}
