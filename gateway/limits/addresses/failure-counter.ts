// Counts failures per client address, and reserves units for attempts whose outcome is not known yet: in Redis for all instances together,
// or in this process without Redis or while it is away.

import { createRequire } from 'node:module';
import type { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { type ConnectRedis, connectRedis, type Redis } from '../../redis/client.ts';
import { evaluate, toScript } from '../../redis/sealed-script.ts';
import { createSharedUnits, type SharedUnits } from './reserved-units.ts';

const require = createRequire(import.meta.url);
/** The two functions below load single files of the library, because its main file would load the limiters of fifteen stores. */
const memoryLimiter = () => require('rate-limiter-flexible/lib/RateLimiterMemory.js') as typeof RateLimiterMemory;
const redisLimiter = () => require('rate-limiter-flexible/lib/RateLimiterRedis.js') as typeof RateLimiterRedis;

/** Timeout of one command: a failure that Redis does not count in time is counted in this process. */
const COMMAND_TIMEOUT_MS = 500;

export interface FailureRules {
  /** Failures allowed per address in one window, which begins with the first failure. */
  readonly failures: number;
  readonly windowSeconds: number;
}

interface FailureCount {
  /** Whether the address has reached the limit. */
  readonly isUsedUp: boolean;
  /** Milliseconds until the window ends, by the shared counter; undefined if this process counted. */
  readonly leftMs: number | undefined;
}

interface Reserving extends FailureCount {
  /** Gives the unit back; call it once. Undefined if failures and reserved units had reached the limit, so that none was reserved. */
  readonly giveBack: (() => void) | undefined;
}

interface FailureCounter {
  /** Counts one failure. Never rejects. */
  count(block: string): Promise<FailureCount>;
  /** Reserves a unit for an attempt that may fail. Never rejects. */
  reserve(block: string): Promise<Reserving>;
  /** Frees the memory of this process for an address. The shared counter stays. */
  forget(block: string): void;
  /** Applies from now on; windows that have begun keep their end. */
  useRules(rules: FailureRules): void;
}

export interface FailureCounters {
  /** @param name distinguishes counters of different failures; the same on all instances */
  counter(name: string, rules: FailureRules): FailureCounter;
  close(): void;
}

/** Counters of this process only. */
export const processFailureCounters: FailureCounters = {
  counter: (name, rules) => createFailureCounter(name, rules, undefined),
  close: () => undefined,
};

/**
 * Opens counters that all instances share, on their own connection.
 *
 * @param redisUrl as `connectRedis` takes it; undefined: use the counters of this process
 */
export function openFailureCounters(
  redisUrl: string | undefined,
  connect: ConnectRedis = connectRedis,
): FailureCounters {
  if (redisUrl === undefined) return processFailureCounters;
  const client = connect({ url: redisUrl, commandTimeoutMs: COMMAND_TIMEOUT_MS });
  const units = createSharedUnits(client);
  return {
    counter: (name, rules) => createFailureCounter(name, rules, { client, units }),
    close() {
      units.close();
      client.disconnect();
    },
  };
}

interface SharedCounting {
  readonly client: Redis;
  readonly units: SharedUnits;
}

function createFailureCounter(name: string, rules: FailureRules, sharing: SharedCounting | undefined): FailureCounter {
  const settings = { points: rules.failures, duration: rules.windowSeconds, keyPrefix: `failures:${name}` };
  const memory = new (memoryLimiter())(settings);
  const shared =
    sharing &&
    new (redisLimiter())({ ...settings, storeClient: sealedFor(sharing.client), rejectIfRedisNotReady: true });
  const limiter = shared ?? memory;

  async function countHere(block: string, failures: number): Promise<FailureCount> {
    const { remainingPoints } = await memory.penalty(block, failures);
    return { isUsedUp: remainingPoints === 0, leftMs: undefined };
  }

  /** Counts in Redis; while Redis is away, in the memory of this process. */
  async function countShared(redis: RateLimiterRedis, block: string, failures: number): Promise<FailureCount> {
    try {
      const { remainingPoints, msBeforeNext } = await redis.penalty(block, failures);
      return { isUsedUp: remainingPoints === 0, leftMs: msBeforeNext };
    } catch {
      return countHere(block, failures);
    }
  }

  /** Units that this process has reserved, by block. Those reserved in Redis are included. */
  const reserved = new Map<string, number>();

  function reserveHere(block: string, giveBackShared?: () => void): () => void {
    reserved.set(block, (reserved.get(block) ?? 0) + 1);
    return function giveBack() {
      const left = (reserved.get(block) ?? 1) - 1;
      if (left === 0) reserved.delete(block);
      else reserved.set(block, left);
      giveBackShared?.();
    };
  }

  async function reserveShared(block: string, { units }: SharedCounting): Promise<Reserving> {
    const { failures, leftMs, giveBack } = await units.reserve(limiter.getKey(block), limiter.points);
    return { isUsedUp: failures >= limiter.points, leftMs, giveBack: giveBack && reserveHere(block, giveBack) };
  }

  async function reserveInProcess(block: string): Promise<Reserving> {
    const failures = (await memory.get(block))?.consumedPoints ?? 0;
    const isLeft = failures + (reserved.get(block) ?? 0) < memory.points;
    return {
      isUsedUp: failures >= memory.points,
      leftMs: undefined,
      giveBack: isLeft ? reserveHere(block) : undefined,
    };
  }

  return {
    count:
      shared === undefined
        ? (block) => countHere(block, 1)
        : createTogether((block, failures) => countShared(shared, block, failures)),
    reserve(block) {
      if (sharing === undefined) return reserveInProcess(block);
      return reserveShared(block, sharing).catch(() => reserveInProcess(block));
    },
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

/**
 * Returns the client that the library gets in place of the Redis client. The library defines one script and runs it. Here the script seals
 * its reply, so that a damaged reply is not taken for a failure of an address.
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

/** From this number of failures in one command on, the next command waits. */
const FLOOD = 8;
/** Milliseconds between two commands of such a flood. This instance learns by as much later that the address is blocked. */
const FLOOD_REST_MS = 5;

interface Failures extends PromiseWithResolvers<FailureCount> {
  failures: number;
}

/**
 * Returns a function that counts failures of one address together if they happen in one turn of the event loop, or before the last command
 * for the address is answered. A flood from one address then costs a command every few milliseconds. A command for each failure took as
 * much CPU as the refusal itself.
 */
function createTogether(count: (block: string, failures: number) => Promise<FailureCount>): FailureCounter['count'] {
  const waiting = new Map<string, Failures>();
  const inFlight = new Set<string>();

  function send(block: string): void {
    const { failures, resolve } = waiting.get(block) as Failures;
    waiting.delete(block);
    inFlight.add(block);
    const next = () => {
      inFlight.delete(block);
      if (waiting.has(block)) send(block);
    };
    const rest = () => setTimeout(next, FLOOD_REST_MS).unref();
    void count(block, failures)
      .then(resolve)
      .then(failures < FLOOD ? next : rest);
  }

  return function countTogether(block) {
    let together = waiting.get(block);
    if (together === undefined) {
      together = { ...Promise.withResolvers<FailureCount>(), failures: 0 };
      waiting.set(block, together);
      if (!inFlight.has(block)) setImmediate(send, block);
    }
    together.failures += 1;
    return together.promise;
  };
}
