// Stores deprecated calls in Redis, shared by all instances, in two hashes per day, which expire by themselves.

import { type ConnectRedis, openRedis } from '../redis/client.ts';
import { evaluate, toScript } from '../redis/sealed-script.ts';
import { dayOf, daysBetween, firstDay, KEPT_DAYS, type Use, type UseStore, type UsesOf } from './store.ts';

const COMMAND_TIMEOUT_MS = 1000;
const FIELDS_AT_ONCE = 500;

/** Arguments: seconds to keep the hashes; then field, calls and time of the last call of each use. */
const ADD = toScript(`
for i = 2, #ARGV, 3 do
  redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1])
  local last = redis.call('HGET', KEYS[2], ARGV[i])
  if not last or tonumber(last) < tonumber(ARGV[i + 2]) then redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 2]) end
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[1])
`);

/** Opens the store. Resolves when the first attempt to connect has succeeded or failed. The client reconnects by itself. */
export async function createRedisUseStore(url: string, now: () => number, connect?: ConnectRedis): Promise<UseStore> {
  const client = await openRedis({ url, commandTimeoutMs: COMMAND_TIMEOUT_MS }, connect);

  async function usesOfOne(day: string, { organization, operations }: UsesOf): Promise<Use[]> {
    const fields = operations.map((operation) => JSON.stringify([organization, operation]));
    const [calls, last] = await Promise.all(keysOf(day).map((key) => client.hmget(key, ...fields)));
    return operations.flatMap((operation, index): Use[] => {
      const count = calls?.[index];
      if (typeof count !== 'string') return [];
      return [{ day, organization, operation, calls: Number(count), lastAtMs: Number(last?.[index] ?? 0) }];
    });
  }

  async function usesOf(day: string): Promise<Use[]> {
    const [calls, last] = (await Promise.all(keysOf(day).map((key) => client.hgetall(key)))) as Record<
      string,
      string
    >[];
    return Object.entries(calls ?? {}).map(([field, count]) => {
      const [organization = '', operation = ''] = JSON.parse(field) as string[];
      return { day, organization, operation, calls: Number(count), lastAtMs: Number(last?.[field] ?? 0) };
    });
  }

  return {
    async add(uses) {
      for (const [day, here] of Map.groupBy(uses, (use) => use.day)) {
        for (let from = 0; from < here.length; from += FIELDS_AT_ONCE) {
          const args = here
            .slice(from, from + FIELDS_AT_ONCE)
            .flatMap(({ organization, operation, calls, lastAtMs }) => [
              JSON.stringify([organization, operation]),
              calls,
              lastAtMs,
            ]);
          await evaluate(client, ADD, keysOf(day), [KEPT_DAYS * 86_400, ...args]);
        }
      }
    },
    async list(sinceDay, of) {
      if (of?.operations.length === 0) return [];
      // Earlier days are not stored.
      const [, first = sinceDay] = [sinceDay, firstDay(now())].sort();
      const days = daysBetween(first, dayOf(now()));
      return (await Promise.all(days.map((day) => (of ? usesOfOne(day, of) : usesOf(day))))).flat();
    },
    close: () => client.disconnect(),
  };
}

/** Returns both keys of a day. They have one hash tag, because a script needs its keys in one slot. */
function keysOf(day: string): string[] {
  return [`versions:{${day}}:calls`, `versions:{${day}}:last`];
}
