// Keeps secrets that the gateway itself creates in Redis, for instances without a shared directory. Error messages never contain a value.

import { setTimeout as sleep } from 'node:timers/promises';
import { askRedis, type ConnectRedis, type Redis } from '../../redis/client.ts';
import { evaluate, toScript } from '../../redis/sealed-script.ts';
import type { GeneratedSecrets } from './generated-secrets.ts';

const KEY = '{gateway}:secrets';
/** The key that exists as long as this Redis contains a key store. */
const STORE_KEY = '{gateway}:meta';
const LOST =
  'The key_pepper that the key store in Redis was made with is not in Redis any more. Put it back into the secrets store; every data directory that was used with this Redis has a copy, secrets/shared/key_pepper.';
const COMMAND_TIMEOUT_MS = 1000;
const RETRY_EVERY_MS = 100;

/**
 * Returns false instead of creating a key_pepper for an existing key store, because the store's keys depend on another pepper, which
 * another instance may be about to restore.
 */
const MAKE = toScript(`
local present = redis.call('HGET', KEYS[1], ARGV[1])
if present then return present end
if ARGV[1] == 'key_pepper' and redis.call('EXISTS', KEYS[2]) == 1 then return false end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return ARGV[2]
`);

const READ = toScript(`
return redis.call('HGET', KEYS[1], ARGV[1])
`);

const RESTORE = toScript(`
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
`);

/** Replaces a value. Also returns 1 if the new value is present already, so that the call can be repeated after a lost reply. */
const REPLACE = toScript(`
local present = redis.call('HGET', KEYS[1], ARGV[1])
if present == ARGV[3] then return 1 end
if present ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
`);

/** Returns the names of the secrets in this Redis. */
export async function secretsHeldIn(client: Redis): Promise<readonly string[]> {
  return (await client.hkeys(KEY)).sort();
}

interface SecretsInRedisOptions {
  /** redis:// or rediss:// */
  readonly url: string;
  /** The time to wait for Redis to respond, because a gateway and its Redis are often started together. */
  readonly patienceMs: number;
  readonly connect?: ConnectRedis | undefined;
}

/**
 * Creates the store, which opens a connection for each command, because commands are rare. Commands reject if Redis does not respond. After
 * the first response, later commands do not wait for a Redis that is starting.
 */
export function createSecretsInRedis({ url, patienceMs, connect }: SecretsInRedisOptions): GeneratedSecrets {
  let patienceLeftMs = patienceMs;

  async function run<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    const endsAt = performance.now() + patienceLeftMs;
    for (;;) {
      try {
        const answer = await askRedis(url, COMMAND_TIMEOUT_MS, command, connect);
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
    read: (entry) =>
      run(async (client) => ((await evaluate(client, READ, [KEY], [entry])) as string | null) ?? undefined),
    async make(entry, value) {
      const endsAt = performance.now() + patienceMs;
      for (;;) {
        const made = await run((client) => evaluate(client, MAKE, [KEY, STORE_KEY], [entry, value]));
        if (typeof made === 'string') return made;
        if (performance.now() >= endsAt) throw new Error(LOST);
        await sleep(RETRY_EVERY_MS);
      }
    },
    restore: (entry, value) =>
      run(async (client) => (await evaluate(client, RESTORE, [KEY], [entry, value])) as string),
    replace: (entry, former, value) =>
      run(async (client) => (await evaluate(client, REPLACE, [KEY], [entry, former, value])) === 1),
  };
}
