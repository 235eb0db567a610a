// Counts failures per client address, and reserves units of the limit for attempts whose outcome is not known yet. All instances share the
// counters in Redis. Without Redis, or while Redis cannot be reached, each process counts alone.

import { createRequire } from 'node:module';
import type { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { type ConnectRedis, connectRedis, type Redis } from '../../redis/client.ts';
import { evaluate, toScript } from '../../redis/sealed-script.ts';
import { REAL_MACHINE } from '../../shared/machine.ts';
import { createSharedUnits, type SharedUnits } from './reserved-units.ts';

const require = createRequire(import.meta.url);
/** These two functions load single files of the library. Its main file would load the limiters of fifteen stores. */
const memoryLimiter = () => require('rate-limiter-flexible/lib/RateLimiterMemory.js') as typeof RateLimiterMemory;
const redisLimiter = () => require('rate-limiter-flexible/lib/RateLimiterRedis.js') as typeof RateLimiterRedis;

/** Timeout of one command. If Redis does not answer in time, this process counts the failure. */
const COMMAND_TIMEOUT_MS = 500;

export interface FailureRules {
  /** Failures allowed per address in one window, which begins with the first failure. */
  readonly failures: number;
  readonly windowSeconds: number;
}

interface FailureCount {
  /** Whether the address has reached the limit. */
  readonly isUsedUp: boolean;
  /** Milliseconds until the window ends, as the shared counter says; undefined if this process counted alone. */
  readonly leftMs: number | undefined;
}

interface Reserving extends FailureCount {
  /** Gives the unit back; undefined if no unit was reserved, because failures and reserved units have reached the limit. Call it once. */
  readonly giveBack: (() => void) | undefined;
}

export interface FailureCounter {
  /** Counts one failure. Never rejects. */
  count(block: string): Promise<FailureCount>;
  /** Reserves a unit for an attempt that may fail. Never rejects. */
  reserve(block: string): Promise<Reserving>;
  /** Frees the memory of this process for an address. The shared counter stays. */
  forget(block: string): void;
  /** Replaces the rules. Windows that have begun keep their end. */
  useRules(rules: FailureRules): void;
}

export interface FailureCounters {
  /** @param name distinguishes counters of different failures; the same on all instances */
  counter(name: string, rules: FailureRules): FailureCounter;
  close(): void;
}

/** Counters of this process only. */
export const PROCESS_FAILURE_COUNTERS: FailureCounters = {
  counter: (name, rules) => new ProcessCounter(name, rules),
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
    counter: (name, rules) => new SharedCounter(name, rules, client, units),
    close() {
      units.close();
      client.disconnect();
    },
  };
}

/** Returns the options for a limiter of the library. */
function settingsOf(name: string, { failures, windowSeconds }: FailureRules) {
  return { points: failures, duration: windowSeconds, keyPrefix: `failures:${name}` };
}

/** Applies new rules to a limiter of the library. */
function setRules(limiter: RateLimiterMemory | RateLimiterRedis, { failures, windowSeconds }: FailureRules): void {
  limiter.points = failures;
  limiter.duration = windowSeconds;
}

/** Counts in the memory of this process. */
class ProcessCounter implements FailureCounter {
  readonly #limiter: RateLimiterMemory;
  /**
   * The number of units that this process has reserved, by address block. Units that are also reserved in Redis are included, so that they
   * still count when Redis becomes unavailable.
   */
  readonly #reserved = new Map<string, number>();

  constructor(name: string, rules: FailureRules) {
    this.#limiter = new (memoryLimiter())(settingsOf(name, rules));
  }

  async count(block: string, failures = 1): Promise<FailureCount> {
    const { remainingPoints } = await this.#limiter.penalty(block, failures);
    return { isUsedUp: remainingPoints === 0, leftMs: undefined };
  }

  async reserve(block: string): Promise<Reserving> {
    const failures = (await this.#limiter.get(block))?.consumedPoints ?? 0;
    const hasRoom = failures + (this.#reserved.get(block) ?? 0) < this.#limiter.points;
    return {
      isUsedUp: failures >= this.#limiter.points,
      leftMs: undefined,
      giveBack: hasRoom ? this.hold(block) : undefined,
    };
  }

  /** Counts a unit as reserved. Returns the function that gives it back, which also calls `giveBackShared`. */
  hold(block: string, giveBackShared?: () => void): () => void {
    this.#reserved.set(block, (this.#reserved.get(block) ?? 0) + 1);
    return () => {
      const left = (this.#reserved.get(block) ?? 1) - 1;
      if (left === 0) this.#reserved.delete(block);
      else this.#reserved.set(block, left);
      giveBackShared?.();
    };
  }

  forget(block: string): void {
    void this.#limiter.delete(block);
  }

  useRules(rules: FailureRules): void {
    setRules(this.#limiter, rules);
  }
}

/** If a command counts this many failures or more, the address is flooding, and its next command waits. */
const FLOOD = 8;
/** Milliseconds between two commands of a flood. The instance learns at most this much later that the address is blocked. */
const FLOOD_REST_MS = 5;

/** The failures of an address that the next command counts. */
interface WaitingFailures extends PromiseWithResolvers<FailureCount> {
  failures: number;
}

/** Counts in Redis, or in the memory of this process while Redis cannot be reached. */
class SharedCounter implements FailureCounter {
  readonly #waiting = new Map<string, WaitingFailures>();
  /** The addresses for which a command is in progress, or has counted a flood. */
  readonly #inFlight = new Set<string>();
  readonly #limiter: RateLimiterRedis;
  readonly #fallback: ProcessCounter;
  readonly #units: SharedUnits;

  constructor(name: string, rules: FailureRules, client: Redis, units: SharedUnits) {
    this.#limiter = new (redisLimiter())({
      ...settingsOf(name, rules),
      storeClient: sealedFor(client),
      rejectIfRedisNotReady: true,
    });
    this.#fallback = new ProcessCounter(name, rules);
    this.#units = units;
  }

  /**
   * One command counts all failures of an address in one turn of the event loop. While a command for the address is in progress, new
   * failures wait and share the next command. One command per failure would take as much CPU as the refusal itself.
   */
  count(block: string): Promise<FailureCount> {
    let waiting = this.#waiting.get(block);
    if (waiting === undefined) {
      waiting = { ...Promise.withResolvers<FailureCount>(), failures: 0 };
      this.#waiting.set(block, waiting);
      if (!this.#inFlight.has(block)) REAL_MACHINE.setImmediate(this.#send, block);
    }
    waiting.failures += 1;
    return waiting.promise;
  }

  reserve(block: string): Promise<Reserving> {
    return this.#reserve(block).catch(() => this.#fallback.reserve(block));
  }

  forget(block: string): void {
    this.#fallback.forget(block);
  }

  useRules(rules: FailureRules): void {
    setRules(this.#limiter, rules);
    this.#fallback.useRules(rules);
  }

  readonly #send = (block: string): void => {
    const { failures, resolve } = this.#waiting.get(block) as WaitingFailures;
    this.#waiting.delete(block);
    this.#inFlight.add(block);
    const next = () => {
      this.#inFlight.delete(block);
      if (this.#waiting.has(block)) this.#send(block);
    };
    const rest = () => REAL_MACHINE.setTimeout(next, FLOOD_REST_MS).unref();
    void this.#count(block, failures)
      .then(resolve)
      .then(failures < FLOOD ? next : rest);
  };

  async #count(block: string, failures: number): Promise<FailureCount> {
    try {
      const { remainingPoints, msBeforeNext } = await this.#limiter.penalty(block, failures);
      return { isUsedUp: remainingPoints === 0, leftMs: msBeforeNext };
    } catch {
      return this.#fallback.count(block, failures);
    }
  }

  async #reserve(block: string): Promise<Reserving> {
    const limiter = this.#limiter;
    const { failures, leftMs, giveBack } = await this.#units.reserve(limiter.getKey(block), limiter.points);
    return { isUsedUp: failures >= limiter.points, leftMs, giveBack: giveBack && this.#fallback.hold(block, giveBack) };
  }
}

/**
 * Returns a client that the library gets in place of the Redis client. The library defines one script and runs it. This client runs the
 * script with a sealed reply, because without the seal, a damaged reply could be counted as a failure of an address.
 */
function sealedFor(client: Redis) {
  let count = toScript('');
  return {
    get status() {
      return client.status;
    },
    defineCommand(_name: string, { lua }: { readonly lua: string }) {
      count = toScript(lua);
    },
    rlflxIncr: ([key = '', ...args]: readonly string[]) => evaluate(client, count, [key], args),
  };
}
