// Limits failures per client address. An address that has used up its failures is refused until its window ends, so that its next attempts
// cost little. A FailureCounter counts; this file remembers which addresses are blocked. Throws auth_attempts_limited.

import { GatewayError } from '../../errors.ts';
import { retryAfterSecondsOf } from '../limit-headers.ts';
import { addressBlockOf } from './address-block.ts';
import { type FailureCounters, type FailureRules, processFailureCounters } from './failure-counter.ts';

/** Addresses in memory, about 30 MB. Counting cannot stop a client that uses more addresses than this within a window. */
const ADDRESSES_MAX = 100_000;

export interface FailureLimitOptions extends FailureRules {
  /** Name of the counted failures; the same on all instances. */
  readonly name: string;
  /** Default: counters of this process. */
  readonly counters?: FailureCounters | undefined;
  readonly now: () => number;
  readonly addressesMax?: number;
}

export interface FailureLimit {
  isBlocked(address: string): boolean;
  /** The refusal of a blocked address. */
  refusalOf(address: string): GatewayError;
  /** Counts a failure of a client address. Resolves when it is counted. */
  countFailure(address: string): Promise<void>;
  /**
   * Reserves a unit for an attempt that may fail. Resolves with the function that gives the unit back. Resolves with undefined while
   * attempts in flight hold all units that are left. Rejects with auth_attempts_limited once failures have used all units up.
   */
  reserve(address: string): Promise<(() => void) | undefined>;
  /** Applies from now on; windows that have begun keep their end, and a blocked address stays blocked. */
  useRules(rules: FailureRules): void;
  /** Number of addresses in memory. */
  size(): number;
}

/**
 * While no address has failed, `isBlocked` costs a request one comparison. It never waits for Redis: an address that has reached the limit
 * on other instances is blocked here after its next failure here.
 */
export function createFailureLimit(options: FailureLimitOptions): FailureLimit {
  const { name, now, addressesMax = ADDRESSES_MAX } = options;
  const counter = (options.counters ?? processFailureCounters).counter(name, options);
  let { windowSeconds } = options;
  // All windows have the same length, so they end in the order of their insertion, unless another instance began them.
  const endsMs = new Map<string, number>();
  const blocked = new Set<string>();

  function forget(block: string): void {
    endsMs.delete(block);
    blocked.delete(block);
    counter.forget(block);
  }

  /** Forgets the windows that have ended, then returns the block of an address. */
  function currentBlockOf(address: string, nowMs: number): string {
    for (const [block, endMs] of endsMs) {
      if (endMs > nowMs) break;
      forget(block);
    }
    const block = addressBlockOf(address);
    // A window may end before windows that were inserted earlier: after a change of rules, or if another instance began it.
    if ((endsMs.get(block) ?? nowMs + 1) <= nowMs) forget(block);
    return block;
  }

  function beginWindow(block: string, nowMs: number): void {
    if (endsMs.size >= addressesMax) forget(endsMs.keys().next().value as string);
    endsMs.set(block, nowMs + windowSeconds * 1000);
  }

  /** Blocks the address until its window ends. `leftMs` is the rest of the window by the shared counter, if that has answered. */
  function blockUntilEnd(block: string, leftMs: number | undefined): void {
    blocked.add(block);
    if (leftMs !== undefined) endsMs.set(block, now() + leftMs);
  }

  function refusalOf(address: string): GatewayError {
    const nowMs = now();
    const waitMs = (endsMs.get(addressBlockOf(address)) ?? nowMs) - nowMs;
    return new GatewayError('auth_attempts_limited', { retryAfterSeconds: retryAfterSecondsOf(waitMs) });
  }

  async function reserve(address: string): Promise<(() => void) | undefined> {
    const nowMs = now();
    const block = currentBlockOf(address, nowMs);
    const { isUsedUp, leftMs, giveBack } = await counter.reserve(block);
    if (!isUsedUp) return giveBack;
    if (!endsMs.has(block)) beginWindow(block, nowMs);
    blockUntilEnd(block, leftMs);
    throw refusalOf(address);
  }

  async function countFailure(address: string): Promise<void> {
    const nowMs = now();
    const block = currentBlockOf(address, nowMs);
    if (blocked.has(block)) return;
    if (!endsMs.has(block)) beginWindow(block, nowMs);
    const { isUsedUp, leftMs } = await counter.count(block);
    if (isUsedUp && endsMs.has(block)) blockUntilEnd(block, leftMs);
  }

  return {
    isBlocked: (address) => blocked.size > 0 && blocked.has(currentBlockOf(address, now())),
    refusalOf,
    countFailure,
    reserve,
    useRules(rules) {
      counter.useRules(rules);
      windowSeconds = rules.windowSeconds;
    },
    size: () => endsMs.size,
  };
}
