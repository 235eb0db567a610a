// Secrets that the gateway made itself, in Redis: for instances that have no directory in common. No message ever holds a value.

import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, evaluate, type Redis, toScript } from '../redis.ts';
import type { MadeSecrets } from './secrets-made.ts';

const KEY = '{gateway}:secrets';
const COMMAND_TIMEOUT_MS = 1000;
const RETRY_EVERY_MS = 100;

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
        const answer = await askOnce(url, question);
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
    make: (entry, value) =>
      ask(async (client) => {
        await client.hsetnx(KEY, entry, value);
        return (await client.hget(KEY, entry)) ?? value;
      }),
    replace: (entry, former, value) =>
      ask(async (client) => (await evaluate(client, REPLACE, [KEY], [entry, former, value])) === 1),
  };
}

async function askOnce<T>(url: string, question: (client: Redis) => Promise<T>): Promise<T> {
  const opened = Promise.withResolvers<void>();
  const client = connectRedis({
    url,
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    onReady: opened.resolve,
    onLost: opened.reject,
  });
  try {
    await opened.promise;
    return await question(client);
  } finally {
    client.disconnect();
  }
}
