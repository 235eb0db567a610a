// Answers in Redis, shared by all instances: one hash per key, which Redis forgets by itself. Leases run by the server's clock, so
// that instances whose clocks differ agree. One hash tag per organization, for Redis Cluster.

import { connectRedis, evaluate, toScript } from '../redis.ts';
import { SLOT_BYTES, withoutRoomMs } from './retention.ts';
import { createState } from './state.ts';
import type { AnswerStore, AnswerStoreStatus, Begun, Claim, Slot } from './store.ts';

/**
 * Fingerprint, owner, what is known of it; milliseconds to remember it with its lease; 1 where the slot of a dead owner is taken over → the
 * owner, state, and what was kept where it is done. What is known begins with the milliseconds that an unknown outcome is remembered: when no
 * more time is left, the lease is over. So no clock is read.
 */
const BEGIN = toScript(`
local fingerprint, owner, record, known = unpack(redis.call('HMGET', KEYS[1], 'fingerprint', 'owner', 'record', 'known'))
local isLost = owner and known and redis.call('PTTL', KEYS[1]) <= tonumber(string.match(known, '^%d+'))
if not fingerprint or (isLost and ARGV[5] == '1') then
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'owner', ARGV[2], 'known', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  return { ARGV[2], 'started' }
end
if fingerprint ~= ARGV[1] then return { ARGV[2], 'different' } end
if isLost then return { ARGV[2], 'unknown', owner, known } end
if owner then return { ARGV[2], 'running' } end
return { ARGV[2], 'done', record }
`);

/**
 * Owner, record or nothing, milliseconds to keep it; bytes an organization may store, milliseconds to remember what goes over. The
 * first write needs no room, and a script that has written is not stopped by a full Redis: what has run does not run twice.
 */
const FINISH = toScript(`
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return end
redis.call('HDEL', KEYS[1], 'owner', 'known')
local used, bytes = tonumber(redis.call('GET', KEYS[2]) or 0), #ARGV[2] + ${SLOT_BYTES}
if used + bytes > tonumber(ARGV[4]) then return redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
redis.call('INCRBY', KEYS[2], bytes)
if used == 0 then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'record', ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
`);

/** Owner. */
const FORGET = toScript(`
if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then redis.call('DEL', KEYS[1]) end
`);

/** Owner, milliseconds that what is stored counts. It has no time left but that to be remembered, so its lease is over. */
const GIVE_UP = toScript(`
local owner, known = unpack(redis.call('HMGET', KEYS[1], 'owner', 'known'))
if owner ~= ARGV[1] then return end
redis.call('PEXPIRE', KEYS[1], string.match(known, '^%d+'))
if redis.call('INCRBY', KEYS[2], ${SLOT_BYTES}) == ${SLOT_BYTES} then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
`);

export interface RedisAnswerStoreOptions {
  readonly url: string;
  onChange(status: AnswerStoreStatus): void;
}

/** Connects at once, and comes back by itself. Resolves when the first attempt to connect has succeeded or failed. */
export async function createRedisAnswerStore({ url, onChange }: RedisAnswerStoreOptions): Promise<AnswerStore> {
  const opened = Promise.withResolvers<void>();
  const state = createState('redis', onChange);
  const client = connectRedis({
    url,
    onReady() {
      state.note('up');
      opened.resolve();
    },
    onLost() {
      state.note('away');
      opened.resolve();
    },
  });

  async function noting<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      state.note('away');
      throw error;
    }
  }

  await opened.promise;
  return {
    async begin(slot, claim) {
      const begun = toBegun(claim, await noting(evaluate(client, BEGIN, [nameOf(slot)], argumentsOf(claim))));
      if (begun.state === 'started') state.note('up');
      return begun;
    },
    async finish(slot, owner, record, retention) {
      const { retainMs, organizationBytesMax } = retention;
      // Replies are read as UTF-8 text, which bytes need not be: each goes as the character of its number.
      const args = [owner, record?.toString('latin1') ?? '', retainMs, organizationBytesMax, withoutRoomMs(retention)];
      await noting(evaluate(client, FINISH, [nameOf(slot), usedOf(slot)], args));
    },
    async forget(slot, owner) {
      await evaluate(client, FORGET, [nameOf(slot)], [owner]);
    },
    async giveUp(slot, owner, { retainMs }) {
      await evaluate(client, GIVE_UP, [nameOf(slot), usedOf(slot)], [owner, retainMs]);
    },
    status: state.status,
    close() {
      state.end();
      client.disconnect();
    },
  };
}

function argumentsOf({ fingerprint, owner, sentAtMs, upstream, retainMs, leaseMs, runsAgain }: Claim) {
  return [fingerprint, owner, `${retainMs} ${sentAtMs} ${upstream}`, retainMs + leaseMs, runsAgain ? 1 : 0];
}

function toBegun(claim: Claim, reply: unknown): Begun {
  const [asked, state, text, known] = reply as [string, Begun['state'], string | null, string];
  // On a connection that lost or repeated a reply, this one has the answer to another request.
  if (asked !== claim.owner) throw new Error('Redis gave a reply to another question.');
  switch (state) {
    case 'done':
      return { state, record: text === null ? undefined : Buffer.from(text, 'latin1') };
    case 'unknown': {
      const [, sentAtMs, upstream] = known.split(' ');
      return { state, owner: text as string, sentAtMs: Number(sentAtMs), upstream };
    }
    default:
      return { state };
  }
}

function nameOf({ organization, mode, digest }: Slot): string {
  return `idem:{${organization}}:${mode}:${digest}`;
}

function usedOf({ organization }: Slot): string {
  return `idem:{${organization}}:used`;
}
