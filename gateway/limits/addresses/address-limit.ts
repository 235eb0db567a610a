// Limits requests, open connections and failed logins per client address, for endpoints without API keys. Throws rate_limited,
// gateway_overloaded, auth_attempts_limited. A login passes these files, each of which calls the next one:
//
//   address-limit.ts     requests and connections of an address
//   login-throttle.ts    the limits that an attempt counts under, and credentials that the upstream has accepted
//   failure-limit.ts     the failures of one limit; remembers blocked addresses, which cost no call of Redis
//   shared-counter.ts    counts failures in Redis; while Redis cannot be reached, process-counter.ts counts them here
//
// throttle.ts uses failure-limit.ts in the same way for rejected API keys.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Admitted } from '../../exchange/exchange.ts';
import type { Awaitable } from '../../shared/awaitable.ts';
import { addressBlockOf } from '../../shared/http/address-block.ts';
import { chargeOf } from '../build-charges.ts';
import { createProcessStore } from '../counters/process-store.ts';
import { retryAfterSecondsOf } from '../limit-headers.ts';
import {
  type LoginAttempt,
  LoginThrottle,
  type LoginThrottleOptions,
  type LoginThrottleRules,
  NO_LOGIN,
} from './login-throttle.ts';

export interface AddressLimitRules extends LoginThrottleRules {
  /** Requests per address, in any span as long as the window. */
  readonly requests: number;
  readonly windowSeconds: number;
  /** The bounds of requests in progress, event streams and upgraded connections, counted together, per address and for all addresses. */
  readonly connections: number;
  readonly connectionsTotal: number;
}

/** A request that the limit has admitted. */
export interface Visit extends Omit<LoginAttempt, 'unanswered'> {
  /** Call it once, when the request has ended. */
  leave(): void;
}

export interface AddressLimit {
  /**
   * Admits one request.
   *
   * @param credential a credential of the request that could be a guess; such a request may wait
   */
  enter(admitted: Admitted, credential: string | undefined): Awaitable<Visit>;
  /** Number of requests and connections in progress. */
  inProgress(): number;
}

/** Retry-After if too many connections are open. It is an estimate, because the gateway does not know when one of them will end. */
const RETRY_AFTER_SECONDS = 5;

function createAddressLimit(
  rules: () => AddressLimitRules,
  { name, counters, now }: LoginThrottleOptions,
): AddressLimit {
  const logins = new LoginThrottle(rules, { name, counters, now });
  const rates = createProcessStore({ now });
  const inProgress = new Map<string, number>();
  let total = 0;

  function countRequest(block: string): void {
    const { outcome, waitMs } = rates.decide([chargeOf({ ...rules(), enforce: true }, 1, 'address', block)]);
    if (outcome !== 'admitted')
      throw new GatewayError('rate_limited', { retryAfterSeconds: retryAfterSecondsOf(waitMs) });
  }

  /** Counts a request as in progress. Returns the function that ends it. */
  function occupy(block: string): () => void {
    inProgress.set(block, (inProgress.get(block) ?? 0) + 1);
    total += 1;
    return () => leave(block);
  }

  function leave(block: string): void {
    const left = (inProgress.get(block) ?? 1) - 1;
    if (left === 0) inProgress.delete(block);
    else inProgress.set(block, left);
    total -= 1;
  }

  async function enterWith(attempt: Awaitable<LoginAttempt>, leaveBlock: () => void): Promise<Visit> {
    try {
      return visitOf(await attempt, leaveBlock);
    } catch (error) {
      leaveBlock();
      throw error;
    }
  }

  return {
    enter(admitted, credential) {
      const digest = credential === undefined ? undefined : logins.digestOf(credential);
      if (digest !== undefined) logins.refuseIfBlocked(admitted, digest);
      const { connections, connectionsTotal } = rules();
      const block = addressBlockOf(admitted.clientAddress);
      if ((inProgress.get(block) ?? 0) >= connections)
        throw new GatewayError('rate_limited', { retryAfterSeconds: RETRY_AFTER_SECONDS });
      if (total >= connectionsTotal) throw new GatewayError('gateway_overloaded');
      countRequest(block);
      const leaveBlock = occupy(block);
      if (digest === undefined) return visitOf(NO_LOGIN, leaveBlock);
      return enterWith(logins.admit(admitted, digest), leaveBlock);
    },
    inProgress: () => total,
  };
}

function visitOf({ answered, abandoned, unanswered }: LoginAttempt, leaveBlock: () => void): Visit {
  return {
    answered,
    abandoned,
    leave() {
      unanswered();
      leaveBlock();
    },
  };
}

/** The limits by the names that requests count under. */
export interface AddressLimits {
  /** Creates the limits of new names, and replaces the rules of known ones, which keep their counts. Other names stay as they are. */
  apply(named: Iterable<readonly [name: string, rules: AddressLimitRules]>): void;
  /** Returns the limit of a name that has been applied. */
  limitOf(name: string): AddressLimit;
}

export function createAddressLimits(options: Omit<LoginThrottleOptions, 'name'>): AddressLimits {
  const latest = new Map<string, AddressLimitRules>();
  const limits = new Map<string, AddressLimit>();

  return {
    apply(named) {
      for (const [name, rules] of named) {
        latest.set(name, rules);
        if (limits.has(name)) continue;
        limits.set(
          name,
          createAddressLimit(() => latest.get(name) as AddressLimitRules, { ...options, name }),
        );
      }
    },
    limitOf: (name) => limits.get(name) as AddressLimit,
  };
}
