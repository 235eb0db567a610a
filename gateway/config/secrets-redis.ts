// Secrets that the gateway made itself, in Redis: for instances that have no directory in common. No message ever holds a value.

import { setTimeout as sleep } from 'node:timers/promises';
import { askRedis, evaluate, type Redis, toScript } from '../redis.ts';
import type { MadeSecrets } from './secrets-made.ts';

const KEY = '{gateway}:secrets';
/** There as long as there is a key store in this Redis. */
const STORE_KEY = '{gateway}:meta';
const LOST =
  'The key_pepper that the key store in Redis was made with is not in Redis any more. Put it back into the secrets store; every data directory that was used with this Redis has a copy, secrets/shared/key_pepper.';
const COMMAND_TIMEOUT_MS = 1000;
const RETRY_EVERY_MS = 100;

/** Nothing: a store that is there was made with another pepper than one that is new, and somebody may be about to put that back. */
const MAKE = toScript(`
local present = redis.call('HGET', KEYS[1], ARGV[1])
if present then return present end
if ARGV[1] == 'key_pepper' and redis.call('EXISTS', KEYS[2]) == 1 then return false end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return ARGV[2]
`);

/** Asked again after a lost answer, it says the same: the value that is there already counts as put there. */
const REPLACE = toScript(`
local present = redis.call('HGET', KEYS[1], ARGV[1])
if present == ARGV[3] then return 1 end
if present ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
`);

export interface SecretsInRedisOptions {
  /** redis:// or rediss:// */
  readonly url: string;
  /** How long a Redis that does not answer is waited for: a gateway and its Redis are often started together. */
  readonly patienceMs: number;
}

/**
 * Connects anew for every question: they are few and far between, and nothing is left open that somebody would have to close.
 * Rejects with a sentence when Redis does not answer; once it has, nobody waits for it again.
 */
export function createSecretsInRedis({ url, patienceMs }: SecretsInRedisOptions): MadeSecrets {
  let patienceLeftMs = patienceMs;

  async function ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    const endsAt = performance.now() + patienceLeftMs;
    for (;;) {
      try {
        const answer = await askRedis(url, COMMAND_TIMEOUT_MS, question);
        patienceLeftMs = 0;
        return answer;
      } catch (cause) {
        if (performance.now() < endsAt) {
          await sleep(RETRY_EVERY_MS);
          continue;
        }
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`The secrets in Redis cannot be reached (${reason}): see REDIS_URL.`, { cause });
      }
    }
  }

  return {
    read: (entry) => ask(async (client) => (await client.hget(KEY, entry)) ?? undefined),
    async make(entry, value) {
      const endsAt = performance.now() + patienceMs;
      for (;;) {
        const made = await ask((client) => evaluate(client, MAKE, [KEY, STORE_KEY], [entry, value]));
        if (typeof made === 'string') return made;
        if (performance.now() >= endsAt) throw new Error(LOST);
        await sleep(RETRY_EVERY_MS);
      }
    },
    restore: (entry, value) =>
      ask(async (client) => {
        await client.hsetnx(KEY, entry, value);
        return (await client.hget(KEY, entry)) ?? value;
      }),
    replace: (entry, former, value) =>
      ask(async (client) => (await evaluate(client, REPLACE, [KEY], [entry, former, value])) === 1),
  };
}
