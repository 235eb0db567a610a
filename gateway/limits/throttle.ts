// Stage: keeps a client address that fails all the time from costing more. Counts nothing but failures. Throws
// auth_attempts_limited.

import { RateLimiterMemory } from 'rate-limiter-flexible';
import { GatewayError } from '../errors.ts';
import type { Admitted } from '../exchange.ts';
import { addressBlockOf } from './address.ts';
import { retryAfterSecondsOf } from './headers.ts';

/** About 30 MB. Whoever fails from more addresses than this within a window is not stopped by counting addresses. */
const ADDRESSES_MAX = 100_000;

export interface ThrottleRules {
  /** Failures an address may have in one window, which begins with its first failure. */
  readonly failures: number;
  readonly windowSeconds: number;
}

export interface ThrottleOptions extends ThrottleRules {
  /** Whether the request shows a credential that is already known good. It passes, so that one bad client behind a shared
   * address does not lock out the others. */
  readonly isKnownCaller: (admitted: Admitted) => boolean;
  readonly now: () => number;
  readonly addressesMax?: number;
}

export interface Throttle {
  throttle(admitted: Admitted): void;
  /** To be called for each answer that counts as a failure of its client. */
  countFailure(address: string): void;
  /** From now on; windows that have begun end as they would have, and who has to wait goes on waiting. */
  useRules(rules: ThrottleRules): void;
  /** Addresses in memory. */
  size(): number;
}

/** Builds the stage. Without failures it costs a request one comparison. */
export function createThrottle(options: ThrottleOptions): Throttle {
  const { isKnownCaller, now, addressesMax = ADDRESSES_MAX } = options;
  const limiter = new RateLimiterMemory({ points: options.failures, duration: options.windowSeconds, keyPrefix: '' });
  // All windows are equally long, so the order of insertion is the order of ending.
  const endsMs = new Map<string, number>();
  const blocked = new Set<string>();

  function forget(block: string): void {
    endsMs.delete(block);
    blocked.delete(block);
    void limiter.delete(block);
  }

  function forgetEnded(nowMs: number): void {
    for (const [block, endMs] of endsMs) {
      if (endMs > nowMs) return;
      forget(block);
    }
  }

  /** After a change of rules a window may end before one that began earlier. */
  function forgetIfEnded(block: string, nowMs: number): void {
    if ((endsMs.get(block) ?? nowMs + 1) <= nowMs) forget(block);
  }

  function beginWindow(block: string, nowMs: number): void {
    if (endsMs.size >= addressesMax) forget(endsMs.keys().next().value as string);
    endsMs.set(block, nowMs + limiter.duration * 1000);
  }

  return {
    throttle(admitted) {
      if (blocked.size === 0) return;
      const nowMs = now();
      forgetEnded(nowMs);
      const block = addressBlockOf(admitted.clientAddress);
      forgetIfEnded(block, nowMs);
      if (!blocked.has(block) || isKnownCaller(admitted)) return;
      const waitMs = (endsMs.get(block) ?? nowMs) - nowMs;
      throw new GatewayError('auth_attempts_limited', { retryAfterSeconds: retryAfterSecondsOf(waitMs) });
    },

    countFailure(address) {
      const nowMs = now();
      forgetEnded(nowMs);
      const block = addressBlockOf(address);
      forgetIfEnded(block, nowMs);
      if (blocked.has(block)) return;
      if (!endsMs.has(block)) beginWindow(block, nowMs);
      void limiter.penalty(block).then(({ remainingPoints }) => {
        if (remainingPoints === 0 && endsMs.has(block)) blocked.add(block);
      });
    },

    useRules({ failures, windowSeconds }) {
      limiter.points = failures;
      limiter.duration = windowSeconds;
    },

    size: () => endsMs.size,
  };
}
