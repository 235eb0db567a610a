// Counts failures per client address, and reserves units of the limit for attempts whose outcome is not known yet. All instances share the
// counters in Redis; each process counts alone without Redis, and while Redis cannot be reached.

import { type ConnectRedis, connectRedis } from '../../redis/client.ts';
import { ProcessCounter } from './process-counter.ts';
import { createSharedUnits } from './reserved-units.ts';
import { SharedCounter } from './shared-counter.ts';

/** Timeout of one command. If Redis does not answer in time, this process counts the failure. */
const COMMAND_TIMEOUT_MS = 500;

export interface FailureRules {
  /** Failures allowed per address in one window, which begins with the first failure. */
  readonly failures: number;
  readonly windowSeconds: number;
}

export interface FailureCount {
  /** Whether the address has reached the limit. */
  readonly isUsedUp: boolean;
  /** Milliseconds until the window ends, as the shared counter says; undefined if this process counted alone. */
  readonly leftMs: number | undefined;
}

export interface ReservedUnit extends FailureCount {
  /** Gives the unit back; undefined if no unit was reserved, because failures and reserved units have reached the limit. Call it once. */
  readonly giveBack: (() => void) | undefined;
}

export interface FailureCounter {
  /** Counts one failure. Never rejects. */
  count(block: string): Promise<FailureCount>;
  /** Reserves a unit for an attempt that may fail. Never rejects. */
  reserve(block: string): Promise<ReservedUnit>;
  /** Frees the memory of this process for an address. The shared counter stays. */
  forget(block: string): void;
}

export interface FailureCounters {
  /**
   * @param name distinguishes counters of different failures; the same on all instances
   * @param rules the current rules. If they change, windows that have begun keep their end
   */
  counter(name: string, rules: () => FailureRules): FailureCounter;
  close(): void;
}

/** Counters of this process only. */
export const PROCESS_FAILURE_COUNTERS: FailureCounters = {
  counter: (_name, rules) => new ProcessCounter(rules),
  close: () => undefined,
};

/**
 * Opens counters that all instances share, on their own connection.
 *
 * @param redisUrl as `connectRedis` takes it; undefined to use the counters of this process
 */
export function openFailureCounters(
  redisUrl: string | undefined,
  connect: ConnectRedis = connectRedis,
): FailureCounters {
  if (redisUrl === undefined) return PROCESS_FAILURE_COUNTERS;
  const client = connect({ url: redisUrl, commandTimeoutMs: COMMAND_TIMEOUT_MS });
  const units = createSharedUnits(client);
  return {
    counter: (name, rules) => new SharedCounter(name, rules, units),
    close() {
      units.close();
      client.disconnect();
    },
  };
}
