// The limit of one kind of failure per client address. failure-counter.ts counts the failures; this file remembers the blocked addresses,
// which are refused at once, without Redis, until their window ends. Throws auth_attempts_limited.

import { GatewayError } from '../../catalogue/errors.ts';
import { addressBlockOf } from '../../shared/http/address-block.ts';
import { retryAfterSecondsOf } from '../limit-headers.ts';
import {
  type FailureCounter,
  type FailureCounters,
  type FailureRules,
  PROCESS_FAILURE_COUNTERS,
} from './failure-counter.ts';

/**
 * The largest number of addresses in memory, about 30 MB. A client that fails from more addresses than this within one window is not
 * stopped by this limit.
 */
const ADDRESSES_MAX = 100_000;

export interface FailureLimitOptions {
  /** The current rules. If they change, windows that have begun keep their end, and a blocked address stays blocked. */
  readonly rules: () => FailureRules;
  /** Name of the counted failures; the same on all instances. */
  readonly name: string;
  /** Default: counters of this process. */
  readonly counters?: FailureCounters | undefined;
  readonly now: () => number;
  readonly addressesMax?: number;
}

export class FailureLimit {
  readonly #now: () => number;
  readonly #addressesMax: number;
  readonly #counter: FailureCounter;
  readonly #rules: () => FailureRules;
  // The end of each window, in the order in which this instance saw the windows begin. Windows nearly always end in this order, because all
  // have the same length.
  readonly #endsMs = new Map<string, number>();
  readonly #blocked = new Set<string>();

  constructor(options: FailureLimitOptions) {
    this.#now = options.now;
    this.#addressesMax = options.addressesMax ?? ADDRESSES_MAX;
    this.#counter = (options.counters ?? PROCESS_FAILURE_COUNTERS).counter(options.name, options.rules);
    this.#rules = options.rules;
  }

  /**
   * Whether the address is refused. Does not ask Redis, and costs one comparison while no address is blocked. An address that has reached
   * the limit on other instances is therefore blocked on this instance only after its next failure here.
   */
  isBlocked(address: string): boolean {
    if (this.#blocked.size === 0) return false;
    const block = addressBlockOf(address);
    this.#forgetEnded(block, this.#now());
    return this.#blocked.has(block);
  }

  /** Returns the refusal of a blocked address. */
  refusalOf(address: string): GatewayError {
    const nowMs = this.#now();
    const waitMs = (this.#endsMs.get(addressBlockOf(address)) ?? nowMs) - nowMs;
    return new GatewayError('auth_attempts_limited', { retryAfterSeconds: retryAfterSecondsOf(waitMs) });
  }

  /** Counts a failure of a client address. Resolves when it is counted. */
  async countFailure(address: string): Promise<void> {
    const nowMs = this.#now();
    const block = addressBlockOf(address);
    this.#forgetEnded(block, nowMs);
    if (this.#blocked.has(block)) return;
    if (!this.#endsMs.has(block)) this.#beginWindow(block, nowMs);
    const { isUsedUp, leftMs } = await this.#counter.count(block);
    if (isUsedUp && this.#endsMs.has(block)) this.#blockUntilEnd(block, leftMs);
  }

  /**
   * Reserves a unit for an attempt that may fail. Resolves with the function that gives the unit back. Resolves with undefined if attempts
   * in progress have reserved all remaining units. Rejects with auth_attempts_limited if failures have used all units.
   */
  async reserve(address: string): Promise<(() => void) | undefined> {
    const nowMs = this.#now();
    const block = addressBlockOf(address);
    this.#forgetEnded(block, nowMs);
    const { isUsedUp, leftMs, giveBack } = await this.#counter.reserve(block);
    if (!isUsedUp) return giveBack;
    if (!this.#endsMs.has(block)) this.#beginWindow(block, nowMs);
    this.#blockUntilEnd(block, leftMs);
    throw this.refusalOf(address);
  }

  /** Number of addresses in memory. */
  size(): number {
    return this.#endsMs.size;
  }

  #forget(block: string): void {
    this.#endsMs.delete(block);
    this.#blocked.delete(block);
    this.#counter.forget(block);
  }

  /** Forgets the windows that have ended: many of them, and always the window of this block. */
  #forgetEnded(block: string, nowMs: number): void {
    for (const [other, endMs] of this.#endsMs) {
      if (endMs > nowMs) break;
      this.#forget(other);
    }
    // The loop stops at the first window that has not ended. The window of this block may come later in the order and have ended, because
    // the rules have changed or another instance began the window earlier.
    if ((this.#endsMs.get(block) ?? nowMs + 1) <= nowMs) this.#forget(block);
  }

  #beginWindow(block: string, nowMs: number): void {
    if (this.#endsMs.size >= this.#addressesMax) this.#forget(this.#endsMs.keys().next().value as string);
    this.#endsMs.set(block, nowMs + this.#rules().windowSeconds * 1000);
  }

  /**
   * Blocks the address until its window ends.
   *
   * @param leftMs the rest of the window in Redis; undefined if Redis has not answered, so the window of this process counts
   */
  #blockUntilEnd(block: string, leftMs: number | undefined): void {
    this.#blocked.add(block);
    if (leftMs !== undefined) this.#endsMs.set(block, this.#now() + leftMs);
  }
}
