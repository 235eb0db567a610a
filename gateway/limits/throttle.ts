// Stage: refuses a client address that the gateway itself has refused too often. Throws auth_attempts_limited.

import type { GatewayError } from '../errors.ts';
import type { Admitted, Arrived } from '../exchange.ts';
import { createFailureLimit, type FailureLimit, type FailureLimitOptions } from './failure-limit.ts';

/** Of refusals by the gateway itself: unknown credentials, lacking permissions, unknown paths and methods. */
const countedStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405]);

export interface ThrottleOptions extends Omit<FailureLimitOptions, 'name'> {
  /**
   * Whether the request carries a credential that is already known to be valid. It passes, so that one bad client behind a shared address
   * does not lock out the others.
   */
  readonly isKnownCaller: (admitted: Admitted) => boolean;
}

export interface Throttle extends Pick<FailureLimit, 'useRules' | 'size'> {
  throttle(admitted: Admitted): void;
  /** Counts a refusal that an exchange got, if it is one of a credential, a permission, a path or a method. */
  countRefusal(arrived: Pick<Arrived, 'clientAddress'>, error: GatewayError): void;
}

export function createThrottle({ isKnownCaller, ...options }: ThrottleOptions): Throttle {
  const failures = createFailureLimit({ ...options, name: 'address' });
  return {
    ...failures,
    throttle(admitted) {
      const { clientAddress } = admitted;
      if (failures.isBlocked(clientAddress) && !isKnownCaller(admitted)) throw failures.refusalOf(clientAddress);
    },
    countRefusal({ clientAddress }, { entry, details }) {
      if (clientAddress === undefined || !countedStatuses.has(entry.status)) return;
      // A refusal in the upstream's own words concerns one request of a permitted caller.
      if (details.words === undefined) void failures.countFailure(clientAddress);
    },
  };
}
