// Creates the two limiters of rate-limiter-flexible that count failures. Each is loaded from its own file, because the main file of the
// library would load the limiters of fifteen stores.

import { createRequire } from 'node:module';
import type { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import type { Redis } from '../../redis/client.ts';
import { evaluate, toScript } from '../../redis/sealed-script.ts';
import type { FailureRules } from './failure-counter.ts';

const require = createRequire(import.meta.url);

export function createMemoryLimiter(name: string, rules: () => FailureRules): RateLimiterMemory {
  const Limiter = require('rate-limiter-flexible/lib/RateLimiterMemory.js') as typeof RateLimiterMemory;
  return following(rules, new Limiter(settingsOf(name, rules())));
}

export function createRedisLimiter(name: string, rules: () => FailureRules, client: Redis): RateLimiterRedis {
  const Limiter = require('rate-limiter-flexible/lib/RateLimiterRedis.js') as typeof RateLimiterRedis;
  const settings = { ...settingsOf(name, rules()), storeClient: sealedFor(client), rejectIfRedisNotReady: true };
  return following(rules, new Limiter(settings));
}

function settingsOf(name: string, { failures, windowSeconds }: FailureRules) {
  return { points: failures, duration: windowSeconds, keyPrefix: `failures:${name}` };
}

/** Makes the limiter read its rules at each use, because a reload may replace them. */
function following<T extends RateLimiterMemory | RateLimiterRedis>(rules: () => FailureRules, limiter: T): T {
  return Object.defineProperties(limiter, {
    points: { get: () => rules().failures },
    duration: { get: () => rules().windowSeconds },
  });
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
