// The alert store of instances that share a Redis. The instance that holds a lease is the speaker, which sends the messages of all
// instances. Redis stores its outboxes, and the next speaker continues with them.

import { randomBytes } from 'node:crypto';
import { type ConnectRedis, openRedis, type Redis } from '../redis/client.ts';
import { evaluate, type Script, toScript } from '../redis/sealed-script.ts';
import { type AlertStore, lastingSilences, type Silence } from './store.ts';

const COMMAND_TIMEOUT_MS = 1000;
/**
 * The duration of the lease, which is several times the interval between two checks. After this time, another instance replaces a speaker
 * that has crashed.
 */
const LEASE_MS = 10_000;
const HANDED_MS = 86_400_000;

const LEASE = '{gateway}:alerts:speaker';
const OUTBOXES = '{gateway}:alerts:told';
const SILENCES = '{gateway}:alerts:silences';
/** What instances told while they could not reach Redis, by instance, until the speaker has stored it. */
const HANDED = '{gateway}:alerts:handed';
const CHECKED = '{gateway}:alerts:checked';

/**
 * Arguments: id of the instance, duration of the lease, and 1 if it may take a free lease. The reply contains the silences as alternating
 * patterns and texts, and what was handed over as alternating ids of instances and texts. The first write fails for every instance while
 * Redis takes no writes, because none of them can be the speaker then.
 */
const TAKE = toScript(`
redis.call('SET', KEYS[4], ARGV[1], 'PX', ARGV[2])
local holder = redis.call('GET', KEYS[1])
local speaks = (not holder and ARGV[3] == '1') or holder == ARGV[1]
if speaks then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return { speaks and 1 or 0, redis.call('GET', KEYS[2]) or '', redis.call('HGETALL', KEYS[3]), redis.call('HGETALL', KEYS[5]) }
`);

/** Arguments: id of the instance, outboxes, and the instances whose texts the outboxes include. */
const WRITE = toScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[2])
for index = 3, #ARGV do redis.call('HDEL', KEYS[3], ARGV[index]) end
return 1
`);

/** Arguments: id of the instance, outboxes, milliseconds. No speaker takes them over while the gateway has no alerts, so they end. */
const HAND_OVER = toScript(`
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`);

/** Arguments: pattern, silence, and the patterns of silences that have ended. */
const SET_SILENCE = toScript(`
for index = 3, #ARGV do redis.call('HDEL', KEYS[1], ARGV[index]) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
`);

const END_SILENCE = toScript(`return redis.call('HDEL', KEYS[1], ARGV[1])`);

const GIVE_BACK = toScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`);

/** Creates the store. It connects at its first use, because most gateways have no alerts. */
export function createRedisAlertStore(url: string, now: () => number, connect?: ConnectRedis): AlertStore {
  const self = randomBytes(8).toString('hex');
  let opening: Promise<Redis> | undefined;
  let known: readonly Silence[] = [];
  let handedBy: readonly string[] = [];

  async function run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    opening ??= openRedis({ url, commandTimeoutMs: COMMAND_TIMEOUT_MS }, connect);
    return evaluate(await opening, script, keys, args);
  }

  return {
    async take(mayBegin) {
      const names = [LEASE, OUTBOXES, SILENCES, CHECKED, HANDED];
      const reply = await run(TAKE, names, [self, LEASE_MS, mayBegin ? 1 : 0]);
      const [speaks, outboxes, silences, handed] = reply as [number, string, string[], string[]];
      known = textsIn(silences).flatMap(silenceIn);
      handedBy = handed.filter((_, index) => index % 2 === 0);
      return {
        speaks: speaks === 1,
        outboxes: outboxes || undefined,
        handed: textsIn(handed),
        silences: lastingSilences(known, now()),
      };
    },
    async write(outboxes) {
      return (await run(WRITE, [LEASE, OUTBOXES, HANDED], [self, outboxes, ...handedBy])) === 1;
    },
    async handOver(outboxes) {
      await run(HAND_OVER, [HANDED], [self, outboxes, HANDED_MS]);
    },
    async setSilence(silence) {
      const ended = known.filter(({ untilMs }) => untilMs <= now()).map(({ causes }) => causes);
      await run(SET_SILENCE, [SILENCES], [silence.causes, JSON.stringify(silence), ...ended]);
    },
    async endSilence(causes) {
      return (await run(END_SILENCE, [SILENCES], [causes])) === 1;
    },
    async close() {
      if (opening === undefined) return;
      await run(GIVE_BACK, [LEASE], [self]).catch(() => undefined);
      (await opening).disconnect();
      opening = undefined;
    },
  };
}

function textsIn(pairs: readonly string[]): string[] {
  return pairs.filter((_, index) => index % 2 === 1);
}

function silenceIn(text: string): Silence[] {
  try {
    const silence = JSON.parse(text) as Silence;
    return typeof silence.causes === 'string' && Number.isSafeInteger(silence.untilMs) ? [silence] : [];
  } catch {
    return [];
  }
}
