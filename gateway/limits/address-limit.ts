// How much a client address may ask of something that has no keys: requests, connections held open, failed logins. Throws rate_limited,
// gateway_overloaded, auth_attempts_limited.

import { GatewayError } from '../errors.ts';
import type { Admitted } from '../exchange.ts';
import { addressBlockOf } from './address.ts';
import { retryAfterSecondsOf } from './headers.ts';
import { createLoginThrottle, type LoginThrottleOptions, type LoginThrottleRules } from './login-throttle.ts';
import { createProcessStore } from './process-store.ts';

export interface AddressLimitRules extends LoginThrottleRules {
  /** Per address, in any span as long as the window. */
  readonly requests: number;
  readonly windowSeconds: number;
  /** Requests in flight, event streams and upgraded connections: of one address, and of all. */
  readonly connections: number;
  readonly connectionsTotal: number;
}

export interface AddressLimit {
  /** Lets one request in. To be called once: what is answered tells that it is over. */
  enter(admitted: Admitted): () => void;
  /** To be called for every answer that comes from behind the door. */
  answered(admitted: Admitted, status: number): void;
  useRules(rules: AddressLimitRules): void;
  /** How many are inside. */
  inside(): number;
}

/** Nobody knows when a connection ends. */
const RETRY_AFTER_SECONDS = 5;

export function createAddressLimit(rules: AddressLimitRules, options: LoginThrottleOptions): AddressLimit {
  const attempts = createLoginThrottle(rules, options);
  const rates = createProcessStore({ now: options.now });
  const inside = new Map<string, number>();
  let total = 0;

  function countRequest(block: string): void {
    const { requests, windowSeconds } = rules;
    const charge = { key: block, policy: 'address', requests, windowSeconds, windowMs: windowSeconds * 1000 };
    const { outcome, waitMs } = rates.decide([{ ...charge, cost: 1, enforce: true }]);
    if (outcome !== 'admitted')
      throw new GatewayError('rate_limited', { retryAfterSeconds: retryAfterSecondsOf(waitMs) });
  }

  function leave(block: string): void {
    const left = (inside.get(block) ?? 1) - 1;
    if (left === 0) inside.delete(block);
    else inside.set(block, left);
    total -= 1;
  }

  return {
    enter(admitted) {
      attempts.admit(admitted);
      const block = addressBlockOf(admitted.clientAddress);
      const own = inside.get(block) ?? 0;
      if (own >= rules.connections) throw new GatewayError('rate_limited', { retryAfterSeconds: RETRY_AFTER_SECONDS });
      if (total >= rules.connectionsTotal) throw new GatewayError('gateway_overloaded');
      countRequest(block);
      inside.set(block, own + 1);
      total += 1;
      return () => leave(block);
    },
    answered: attempts.answered,
    useRules(next) {
      rules = next;
      attempts.useRules(next);
    },
    inside: () => total,
  };
}

/** Doors by name, which keep their counts when the rules change. */
export function createAddressLimits(
  options: Omit<LoginThrottleOptions, 'name'>,
): (name: string, rules: AddressLimitRules) => AddressLimit {
  const doors = new Map<string, AddressLimit>();

  return function doorOf(name, rules) {
    const door = doors.get(name) ?? createAddressLimit(rules, { ...options, name });
    door.useRules(rules);
    doors.set(name, door);
    return door;
  };
}
