// Answers in Redis, shared by all instances: one hash per key, which Redis forgets by itself. Leases run by the server's clock, so
// that instances whose clocks differ agree. One hash tag per organization, for Redis Cluster.

import { connectRedis, evaluate, type Script, toScript } from '../redis.ts';
import type { AnswerStore, Slot, StoreStatus } from './store.ts';

/** Fingerprint, owner, lease in milliseconds → state, and what was kept where it is done. */
const BEGIN = toScript(`
local fingerprint, owner, record = unpack(redis.call('HMGET', KEYS[1], 'fingerprint', 'owner', 'record'))
if not fingerprint then
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'owner', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return { 'started' }
end
if fingerprint ~= ARGV[1] then return { 'different' } end
if owner then return { 'running' } end
return { 'done', record }
`);

/** Owner, record or nothing, milliseconds to keep it. */
const FINISH = toScript(`
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return end
redis.call('HDEL', KEYS[1], 'owner')
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'record', ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
`);

/** Owner. */
const FORGET = toScript(`
if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then redis.call('DEL', KEYS[1]) end
`);

export interface RedisStoreOptions {
  readonly url: string;
  onChange(status: StoreStatus): void;
}

/** Connects at once, and comes back by itself. Resolves when the first attempt to connect has succeeded or failed. */
export async function createRedisStore({ url, onChange }: RedisStoreOptions): Promise<AnswerStore> {
  const opened = Promise.withResolvers<void>();
  const state = createState(onChange);
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

  async function run(script: Script, slot: Slot, args: readonly (string | number)[]): Promise<unknown> {
    try {
      const reply = await evaluate(client, script, [nameOf(slot)], args);
      state.note('up');
      return reply;
    } catch (error) {
      state.note('away');
      throw error;
    }
  }

  await opened.promise;
  return {
    async begin(slot, fingerprint, owner, leaseMs) {
      const [begun, record] = (await run(BEGIN, slot, [fingerprint, owner, leaseMs])) as [string, string | null];
      if (begun === 'done')
        return { state: begun, record: record === null ? undefined : Buffer.from(record, 'latin1') };
      return { state: begun as 'started' | 'running' | 'different' };
    },
    async finish(slot, owner, record, retainMs) {
      // Replies are read as UTF-8 text, which bytes need not be: each goes as the character of its number.
      await run(FINISH, slot, [owner, record?.toString('latin1') ?? '', retainMs]);
    },
    async forget(slot, owner) {
      await run(FORGET, slot, [owner]);
    },
    status: state.status,
    close() {
      state.end();
      client.disconnect();
    },
  };
}

function nameOf({ organization, mode, digest }: Slot): string {
  return `idem:{${organization}}:${mode}:${digest}`;
}

/** Tells of changes only, and of none once the store is closed. */
function createState(onChange: (status: StoreStatus) => void) {
  let state: StoreStatus['state'] | undefined;
  let ended = false;
  const status = (): StoreStatus => ({ kind: 'redis', state: state ?? 'away' });
  return {
    note(next: StoreStatus['state']): void {
      if (state === next || ended) return;
      state = next;
      onChange(status());
    },
    status,
    end(): void {
      ended = true;
    },
  };
}
