// Stores answers in Redis, shared by all instances, in one hash per key, which expires by itself. Leases use the server's clock, so that
// instances with different clocks agree. Each organization has one hash tag, for Redis Cluster.

import { type ConnectRedis, openRedis } from '../redis/client.ts';
import { createReplicaWaits, type ReplicaWait } from '../redis/replicas.ts';
import { evaluate, toScript } from '../redis/sealed-script.ts';
import {
  type AnswerKey,
  type Claim,
  type ClaimResult,
  createStoreState,
  ENTRY_BYTES,
  NotReplicated,
  type ReplayStore,
  type ReplayStoreStatus,
  retainMsWithoutRoom,
} from './replay-store.ts';

/**
 * Arguments: fingerprint; owner; known data; milliseconds to keep the entry, lease included; 1 if the entry of a dead owner may be taken
 * over, which the field `again` notes. Returns the state, and the outcome of a finished request. The known data begins with the
 * milliseconds for which an unknown outcome is kept. When no more than this time is left, the lease is over, so the script needs no clock.
 *
 * An owner without known data is a gateway before version 0af7161, which let the request run again after its lease. This version stores
 * that such a request may have run.
 */
const BEGIN = toScript(`
local fingerprint, owner, record, known = unpack(redis.call('HMGET', KEYS[1], 'fingerprint', 'owner', 'record', 'known'))
local isLost = owner and known and redis.call('PTTL', KEYS[1]) <= tonumber(string.match(known, '^%d+'))
if not fingerprint or (isLost and ARGV[5] == '1' and fingerprint == ARGV[1]) then
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'owner', ARGV[2], 'known', ARGV[3])
  if isLost then redis.call('HSET', KEYS[1], 'again', 1) end
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  return { 'started' }
end
if fingerprint ~= ARGV[1] then return { 'different' } end
if isLost then return { 'unknown', owner, known } end
if owner and not known then
  local retain = string.match(ARGV[3], '^%d+')
  redis.call('HSET', KEYS[1], 'known', retain)
  redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1]) + retain)
end
if owner then return { 'running' } end
return { 'done', record }
`);

/**
 * Arguments: owner; outcome, or empty; milliseconds to keep it; bytes that an organization may store; milliseconds to keep a request that
 * exceeds them. The first write of the script allocates no memory, and a full Redis does not stop a script that has already written. A
 * request that was executed is therefore never executed again because Redis is full.
 */
const FINISH = toScript(`
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return end
redis.call('HDEL', KEYS[1], 'owner', 'known', 'again')
local used, bytes = tonumber(redis.call('GET', KEYS[2]) or 0), #ARGV[2] + ${ENTRY_BYTES}
if used + bytes > tonumber(ARGV[4]) then return redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
redis.call('INCRBY', KEYS[2], bytes)
if used == 0 then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'record', ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
`);

/** Argument: owner. Deletes the entry, or ends the lease if the owner took the entry over from a dead owner. Allocates no memory. */
const FORGET = toScript(`
local owner, known, again = unpack(redis.call('HMGET', KEYS[1], 'owner', 'known', 'again'))
if owner ~= ARGV[1] then return end
if not again then return redis.call('DEL', KEYS[1]) end
redis.call('PEXPIRE', KEYS[1], string.match(known, '^%d+'))
`);

/**
 * Arguments: owner; milliseconds for which stored bytes are counted. Reduces the expiry to the time for which an unknown outcome is kept,
 * which ends the lease.
 */
const GIVE_UP = toScript(`
local owner, known = unpack(redis.call('HMGET', KEYS[1], 'owner', 'known'))
if owner ~= ARGV[1] then return end
redis.call('PEXPIRE', KEYS[1], string.match(known, '^%d+'))
if redis.call('INCRBY', KEYS[2], ${ENTRY_BYTES}) == ${ENTRY_BYTES} then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
`);

interface RedisReplayStoreOptions {
  readonly url: string;
  /** Epoch milliseconds. */
  readonly now?: (() => number) | undefined;
  onChange(status: ReplayStoreStatus): void;
  readonly connect?: ConnectRedis;
}

/** Connects at once and reconnects by itself. Resolves when the first attempt to connect has succeeded or failed. */
export async function createRedisReplayStore({
  url,
  now,
  onChange,
  connect,
}: RedisReplayStoreOptions): Promise<ReplayStore> {
  const state = createStoreState('redis', onChange, { now });
  const listeners = { onReady: () => state.note('up'), onLost: (cause: unknown) => state.note('away', cause) };
  const client = await openRedis({ url, ...listeners }, connect);
  const countReplicas = createReplicaWaits(client);

  async function replicate(name: string, wait: ReplicaWait): Promise<void> {
    const count = await countReplicas(name, wait);
    if (count < wait.replicas) throw new NotReplicated(count, wait.replicas);
  }

  async function noting<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      state.note('away', error);
      throw error;
    }
  }

  return {
    async begin(answerKey, claim) {
      const begun = toBegun(await noting(evaluate(client, BEGIN, [nameOf(answerKey)], argumentsOf(claim))));
      if (begun.state === 'started' && claim.replicaWait) await noting(replicate(nameOf(answerKey), claim.replicaWait));
      if (begun.state === 'started') state.note('up');
      return begun;
    },
    async finish(answerKey, owner, outcome, retention) {
      const { retainMs, organizationBytesMax } = retention;
      // Replies are decoded as UTF-8, and an outcome may contain other bytes. Each byte of the outcome is therefore sent as the character
      // with its number.
      const args = [
        owner,
        outcome?.toString('latin1') ?? '',
        retainMs,
        organizationBytesMax,
        retainMsWithoutRoom(retention),
      ];
      await noting(evaluate(client, FINISH, [nameOf(answerKey), usedOf(answerKey)], args));
    },
    async forget(answerKey, owner) {
      await evaluate(client, FORGET, [nameOf(answerKey)], [owner]);
    },
    async giveUp(answerKey, owner, { retainMs }) {
      await evaluate(client, GIVE_UP, [nameOf(answerKey), usedOf(answerKey)], [owner, retainMs]);
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

function toBegun(reply: unknown): ClaimResult {
  const [state, text, known] = reply as [ClaimResult['state'], string | null, string];
  switch (state) {
    case 'done':
      return { state, outcome: text === null ? undefined : Buffer.from(text, 'latin1') };
    case 'unknown': {
      const [, sentAt, upstream] = known.split(' ');
      return { state, owner: text as string, sentAtMs: sentAt === undefined ? undefined : Number(sentAt), upstream };
    }
    default:
      return { state };
  }
}

function nameOf({ organization, mode, digest }: AnswerKey): string {
  return `idem:{${organization}}:${mode}:${digest}`;
}

function usedOf({ organization }: AnswerKey): string {
  return `idem:{${organization}}:used`;
}
