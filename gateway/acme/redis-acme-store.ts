// The certificate store of instances that share a Redis. Each operation is one script. The clock of Redis decides when the lease ends.

import { type ConnectRedis, openRedis } from '../redis/client.ts';
import { evaluate, type Script, toScript } from '../redis/sealed-script.ts';
import { subscribe } from '../redis/subscribe.ts';
import { type Machine, REAL_MACHINE } from '../shared/machine.ts';
import type { AcmeChanges, AcmeRecords, AcmeStore } from './acme-store.ts';

/** All names have one hash tag, because a script needs its keys in one slot. */
const RECORDS = '{gateway}:acme';
const LEASE = '{gateway}:acme:lease';
const COMMAND_TIMEOUT_MS = 1000;
/**
 * A token is random, because if a failover loses it, the next holder must get a different token. Earlier versions increment the token, so
 * it must be far below Number.MAX_SAFE_INTEGER.
 */
const TOKEN_BYTES = 6;

const PRELUDE = `
local call, records, lease = redis.call, KEYS[1], KEYS[2]
local function now_ms()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function changed(from)
  for at = from, #ARGV, 3 do
    if ARGV[at] == 'set' then call('HSET', records, ARGV[at + 1], ARGV[at + 2]) else call('HDEL', records, ARGV[at + 1]) end
  end
  call('HINCRBY', lease, 'version', 1)
  call('PUBLISH', records .. ':changed', '')
end
`;
const script = (source: string): Script => toScript(PRELUDE + source);

/**
 * Returns the time, and the records if their version has changed. `born` is the time of the first read. If Redis loses all records, it
 * counts versions from the start again, and only `born` differs.
 */
const READ = script(`
local born, version = unpack(call('HMGET', lease, 'born', 'version'))
if not born then
  born = call('TIME')
  born = born[1] .. '.' .. born[2]
  call('HSET', lease, 'born', born)
end
local state = born .. ' ' .. (version or '0')
if state == ARGV[1] then return { now_ms(), state } end
return { now_ms(), state, call('HGETALL', records), records .. ':changed' }
`);
const TAKE = script(`
local left = (tonumber(call('HGET', lease, 'until')) or 0) - now_ms()
-- A lease that ends much later than a new one would was written before the clock was set back. It is ignored only then, because the
-- clock of a server that takes over may be a little behind, and the holder of the lease goes on.
if left > 0 and left <= 2 * ARGV[1] then return false end
call('HSET', lease, 'token', ARGV[2], 'until', string.format('%.0f', now_ms() + ARGV[1]))
return 1
`);
const CONFIRM = script(`
if call('HGET', lease, 'token') ~= ARGV[1] then return 0 end
call('HSET', lease, 'until', string.format('%.0f', now_ms() + ARGV[2]))
return 1
`);
const RELEASE = script(`
if call('HGET', lease, 'token') == ARGV[1] then call('HSET', lease, 'until', 0) end
`);
const WRITE = script(`
if call('HGET', lease, 'token') ~= ARGV[1] then return 0 end
changed(2)
return 1
`);
const PUT = script(`changed(1)`);

/** Opens the store. Resolves when the first attempt to connect has succeeded or failed. The client reconnects by itself. */
export async function openRedisAcmeStore(
  url: string,
  connect?: ConnectRedis,
  machine: Machine = REAL_MACHINE,
): Promise<AcmeStore> {
  const { performance } = machine;
  const client = await openRedis({ url, commandTimeoutMs: COMMAND_TIMEOUT_MS }, connect);
  const run = (which: Script, ...args: (string | number)[]) => evaluate(client, which, [RECORDS, LEASE], args);
  let known: { readonly state: string; readonly records: AcmeRecords; readonly channel: string } | undefined;
  /** The difference between the clock of Redis and the monotonic clock of this process. */
  let aheadMs: number | undefined;
  const closers: (() => void)[] = [];

  async function read(): Promise<AcmeRecords> {
    const reply = await run(READ, known?.state ?? '');
    const [nowMs, state, fields = [], channel = ''] = reply as [number, string, string[]?, string?];
    aheadMs = nowMs - performance.now();
    if (known === undefined || known.state !== state) known = { state, records: pairs(fields), channel };
    return known.records;
  }

  return {
    now: () => (aheadMs === undefined ? machine.now() : Math.round(performance.now() + aheadMs)),
    read,
    async take(forMs) {
      const token = machine.randomBytes(TOKEN_BYTES).readUIntBE(0, TOKEN_BYTES);
      return (await run(TAKE, forMs, token)) === 1 ? token : undefined;
    },
    confirm: async (token, forMs) => (await run(CONFIRM, token, forMs)) === 1,
    async release(token) {
      await run(RELEASE, token);
    },
    write: async (token, changes) => (await run(WRITE, token, ...flat(changes))) === 1,
    async put(changes) {
      await run(PUT, ...flat(changes));
    },
    subscribe(onChange) {
      async function channels(): Promise<string[]> {
        await read();
        return [known?.channel ?? ''];
      }
      const end = subscribe({ url, channels, onMessage: onChange, onSubscribed: onChange, connect });
      closers.push(end);
      return end;
    },
    close() {
      for (const close of closers) close();
      client.disconnect();
    },
  };
}

function flat(changes: AcmeChanges): string[] {
  return Object.entries(changes).flatMap(([name, value]) =>
    value === undefined ? ['del', name, ''] : ['set', name, value],
  );
}

function pairs(fields: readonly string[]): AcmeRecords {
  return new Map(fields.flatMap((name, index) => (index % 2 === 0 ? [[name, fields[index + 1] ?? ''] as const] : [])));
}
