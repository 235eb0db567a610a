// Counts failures per client address: in Redis for all instances together, in this process without Redis and while Redis is away.

import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { connectRedis, type Redis } from '../redis.ts';

/** Of one command: a failure that Redis takes longer to count is counted in this process. */
const COMMAND_TIMEOUT_MS = 500;

export interface FailureRules {
  /** Failures an address may have in one window, which begins with its first failure. */
  readonly failures: number;
  readonly windowSeconds: number;
}

export interface FailureCount {
  /** Whether the address has used its failures up. */
  readonly isUsedUp: boolean;
  /** Milliseconds until the window ends, as the shared counter has it; undefined: the counter is this process's. */
  readonly leftMs: number | undefined;
}

export interface FailureCounter {
  /** Counts one failure. Never rejects. */
  count(block: string): Promise<FailureCount>;
  /** Frees the memory that this process holds for an address. The shared counter is kept. */
  forget(block: string): void;
  /** From now on; windows that have begun end as they would have. */
  useRules(rules: FailureRules): void;
}

export interface FailureCounters {
  /** @param name distinguishes counters of different failures; the same on all instances */
  counter(name: string, rules: FailureRules): FailureCounter;
  close(): void;
}

/** Counters of this process alone. */
export const processFailureCounters: FailureCounters = {
  counter: (name, rules) => createFailureCounter(name, rules, undefined),
  close: () => undefined,
};

/**
 * Counters that all instances share, on a connection of their own.
 *
 * @param redisUrl as `connectRedis` takes it; undefined: the counters are this process's
 */
export function openFailureCounters(redisUrl: string | undefined): FailureCounters {
  if (redisUrl === undefined) return processFailureCounters;
  const client = connectRedis({ url: redisUrl, commandTimeoutMs: COMMAND_TIMEOUT_MS });
  return {
    counter: (name, rules) => createFailureCounter(name, rules, client),
    close: () => client.disconnect(),
  };
}

function createFailureCounter(name: string, rules: FailureRules, client: Redis | undefined): FailureCounter {
  const settings = { points: rules.failures, duration: rules.windowSeconds, keyPrefix: `failures:${name}` };
  const memory = new RateLimiterMemory(settings);
  const shared =
    client &&
    new RateLimiterRedis({ ...settings, storeClient: client, insuranceLimiter: memory, rejectIfRedisNotReady: true });
  const limiter = shared ?? memory;

  function toCount({ remainingPoints, msBeforeNext }: RateLimiterRes): FailureCount {
    return { isUsedUp: remainingPoints === 0, leftMs: shared && msBeforeNext };
  }

  return {
    count: (block) => limiter.penalty(block).then(toCount),
    forget(block) {
      void memory.delete(block);
    },
    useRules({ failures, windowSeconds }) {
      for (const one of [memory, limiter]) {
        one.points = failures;
        one.duration = windowSeconds;
      }
    },
  };
}
