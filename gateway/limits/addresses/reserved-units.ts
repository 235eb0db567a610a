// The failure counters in Redis and their reserved units, shared by all instances. A counter is a number that expires at the end of its
// window. Beside it is a sorted set of reservations, scored by the ends of their leases, because the units of a crashed instance must
// become free.

import type { Redis } from '../../redis/client.ts';
import { evaluate, toScript } from '../../redis/sealed-script.ts';
import { type Machine, REAL_MACHINE, type Timer } from '../../shared/machine.ts';

const LEASE_MS = 60_000;

/** Key: counter. Arguments: failures to add; milliseconds of a window. Returns the failures, and the milliseconds until the window ends. */
const COUNT = toScript(`
local failures = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], left)
end
return { failures, left }
`);

/**
 * Keys: counter; its reservations. Arguments: limit; id; milliseconds of a lease. Returns how many failures are counted, the milliseconds
 * until their window ends, and 1 if a unit is reserved now.
 */
const RESERVE = toScript(`
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local failures = tonumber(redis.call('GET', KEYS[1])) or 0
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', clock)
if failures + redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[1]) then return { failures, redis.call('PTTL', KEYS[1]), 0 } end
redis.call('ZADD', KEYS[2], clock + ARGV[3], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return { failures, 0, 1 }
`);

/** Key: reservations. Arguments: milliseconds of a lease, then ids. */
const RENEW = toScript(`
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', clock + ARGV[1], ARGV[index]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`);

interface SharedCount {
  readonly failures: number;
  /** Milliseconds until the window of the failures ends. */
  readonly leftMs: number;
}

interface SharedReserving extends SharedCount {
  /** Gives the unit back; undefined if none is reserved, because failures and reserved units have reached the limit. */
  readonly giveBack: (() => void) | undefined;
}

export interface SharedUnits {
  /** Adds failures to a counter. Rejects if Redis does not answer as it should. */
  count(counterKey: string, failures: number, windowMs: number): Promise<SharedCount>;
  /** Rejects if Redis does not answer as it should. */
  reserve(counterKey: string, limit: number): Promise<SharedReserving>;
  close(): void;
}

export function createSharedUnits(client: Redis, leaseMs = LEASE_MS, machine: Machine = REAL_MACHINE): SharedUnits {
  const { setInterval, clearInterval } = machine;
  const instance = machine.randomUUID();
  let reservations = 0;
  /** The ids of the reservations of this process, by the key of their set. */
  const held = new Map<string, Set<string>>();
  let renewal: Timer | undefined;

  function hold(key: string, id: string): void {
    const ids = held.get(key) ?? new Set();
    held.set(key, ids.add(id));
    renewal ??= setInterval(renew, leaseMs / 3).unref();
  }

  function giveBack(key: string, id: string): void {
    const ids = held.get(key);
    ids?.delete(id);
    if (ids?.size === 0) held.delete(key);
    if (held.size === 0) stop();
    // If Redis cannot be reached, the reservation stays until its lease ends.
    client.zrem(key, id).catch(() => undefined);
  }

  function renew(): void {
    for (const [key, ids] of held) evaluate(client, RENEW, [key], [leaseMs, ...ids]).catch(() => undefined);
  }

  function stop(): void {
    clearInterval(renewal);
    renewal = undefined;
  }

  return {
    async count(counterKey, counted, windowMs) {
      // A client of a Cluster would keep the command until it is connected.
      if (client.status !== 'ready') throw new Error('Redis is not ready');
      const reply = await evaluate(client, COUNT, [counterKey], [counted, windowMs]);
      const [failures, leftMs] = figuresIn<readonly [failures: number, leftMs: number]>(reply, 2);
      return { failures, leftMs };
    },
    async reserve(counterKey, limit) {
      // The braces put the set into the same slot of a Cluster as its counter.
      const key = `reserved:{${counterKey}}`;
      reservations += 1;
      const id = `${instance}:${reservations}`;
      const reply = await evaluate(client, RESERVE, [counterKey, key], [limit, id, leaseMs]);
      const [failures, leftMs, isReserved] = figuresIn<readonly [failures: number, leftMs: number, isReserved: number]>(
        reply,
        3,
      );
      if (isReserved !== 1) return { failures, leftMs, giveBack: undefined };
      hold(key, id);
      return { failures, leftMs, giveBack: () => giveBack(key, id) };
    },
    close: stop,
  };
}

function figuresIn<Figures extends readonly number[]>(reply: unknown, length: Figures['length']): Figures {
  if (!Array.isArray(reply) || reply.length !== length || !reply.every(Number.isSafeInteger))
    throw new Error('the script gives no such reply');
  return reply as unknown as Figures;
}
