// Checks the Redis in REDIS_URL: reachability, latency, version, role, eviction, memory, persistence, contents, and clock.

import { indexDamage } from '../../auth/store/redis/damage.ts';
import { secretsHeldIn } from '../../config/secrets/secrets-redis.ts';
import { type Secrets, SHARED_SECRETS } from '../../config/secrets.ts';
import { askRedis, type Redis } from '../../redis/client.ts';
import { versionProblem } from '../../redis/server-info.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import { checkSkew } from './data.ts';

const PINGS = 5;
/** Requests wait for Redis, so its latency is added to each. */
const LATENCY_WANTED_MS = 5;
const LATENCY_MAX_MS = 100;
const MEMORY_WARN = 0.8;
const COMMAND_TIMEOUT_MS = 2000;

type ReadSecret = Secrets['read'];

/** Returns the findings. Never rejects, because an unreachable Redis is a finding, too. */
export async function checkRedis(url: string, now: () => number, read: ReadSecret): Promise<Finding[]> {
  try {
    return await askRedis(url, COMMAND_TIMEOUT_MS, (client) => examine(client, now, read));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (/MISCONF/.test(reason))
      return [
        fail(
          'redis',
          'Redis cannot write to its disk (MISCONF), so it takes no writes.',
          'Make room on its disk; "redis-cli <redis> info persistence" and its log say why its last snapshot failed.',
        ),
      ];
    const says = `Redis does not answer (${reason}).`;
    return [fail('redis', says, 'Start it, or correct REDIS_URL or the network.')];
  }
}

async function examine(client: Redis, now: () => number, read: ReadSecret): Promise<Finding[]> {
  const latencyMs = await latencyOf(client);
  const skewMs = await skewOf(client, now);
  const info = parseInfo(await client.info());
  return [
    checkLatency(latencyMs),
    ...checkServer(info),
    await checkPersistence(client, info),
    checkSecretsIn(await secretsHeldIn(client), read),
    checkIndex(await indexDamage(client)),
    checkSkew('clock of Redis', skewMs),
  ];
}

async function latencyOf(client: Redis): Promise<number> {
  const times: number[] = [];
  for (let ping = 0; ping < PINGS; ping++) {
    const startedAt = performance.now();
    await client.ping();
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b)[Math.floor(PINGS / 2)] as number;
}

async function skewOf(client: Redis, now: () => number): Promise<number> {
  const before = now();
  const [seconds, microseconds] = (await client.time()).map(Number) as [number, number];
  return seconds * 1000 + microseconds / 1000 - (before + now()) / 2;
}

export function checkLatency(ms: number): Finding {
  const says = `Redis answers in ${ms.toFixed(1)} ms.`;
  if (ms <= LATENCY_WANTED_MS) return ok('redis latency', says);
  const remedy = 'Move it closer: each counted request waits for it.';
  return ms <= LATENCY_MAX_MS ? warn('redis latency', says, remedy) : fail('redis latency', says, remedy);
}

/** Parses the `name:value` lines of INFO. */
export function parseInfo(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(/^([a-z_0-9]+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]));
}

export function checkServer(info: ReadonlyMap<string, string>): Finding[] {
  const version = info.get('redis_version') ?? '';
  const objection = versionProblem(`redis_version:${version}`);
  return [
    objection === undefined
      ? ok('redis version', `Redis ${version || 'that does not say its version'}.`)
      : fail('redis version', `${objection}.`, 'Update it: the gateway does not start with this one.'),
    info.get('role') === 'master'
      ? ok('redis role', 'It is a master.')
      : fail('redis role', `It is a ${info.get('role')}, which takes no writes.`, 'Name the master in REDIS_URL.'),
    ...checkMemory(info),
  ];
}

function checkMemory(info: ReadonlyMap<string, string>): Finding[] {
  const max = Number(info.get('maxmemory') ?? 0);
  const used = Number(info.get('used_memory') ?? 0);
  const policy = info.get('maxmemory_policy') ?? 'noeviction';
  const keeps = ok('redis eviction', `maxmemory-policy is ${policy}.`);
  const evicts = () =>
    fail(
      'redis eviction',
      `maxmemory-policy is ${policy}: keys and counters disappear when memory is short.`,
      'Set maxmemory-policy noeviction.',
    );
  const percent = max === 0 ? 0 : Math.round((100 * used) / max);
  const says = max === 0 ? 'Redis has no maxmemory.' : `Redis uses ${percent} % of its maxmemory.`;
  return [
    policy === 'noeviction' ? keeps : evicts(),
    percent < MEMORY_WARN * 100
      ? ok('redis memory', says)
      : warn('redis memory', says, 'Raise maxmemory: without room, nothing is written.'),
  ];
}

async function checkPersistence(client: Redis, info: ReadonlyMap<string, string>): Promise<Finding> {
  // Many hosted services refuse CONFIG.
  const [, save = 'unknown'] = (await client.config('GET', 'save').catch(() => [])) as string[];
  if (info.get('aof_enabled') === '1') return ok('redis persistence', 'It keeps an append-only file.');
  if (save === '')
    return warn(
      'redis persistence',
      'It keeps nothing on disk: if it restarts, organizations and keys are lost.',
      'Set appendonly yes, and back up with "gateway keys export".',
    );
  const failed = info.get('rdb_last_bgsave_status') === 'err';
  if (failed) return fail('redis persistence', 'Its last snapshot failed.', 'See its log; it may refuse writes.');
  return warn(
    'redis persistence',
    'It keeps snapshots at most: what was written since the last one is lost with it.',
    'Set appendonly yes.',
  );
}

function checkIndex(damage: string | undefined): Finding {
  if (damage === undefined) return ok('redis key store', 'The index of organizations and keys is whole.');
  return fail(
    'redis key store',
    `The index of organizations and keys is damaged (${damage}): Redis has probably evicted a part of it.`,
    'Set maxmemory-policy noeviction, then mend it with "gateway keys import" and the latest export. Compare revoked keys and suspended organizations with "gateway audit".',
  );
}

/**
 * Warns of secrets in Redis that were moved to the secrets store, because everything that reads Redis can read them until they are deleted.
 */
function checkSecretsIn(held: readonly string[], read: ReadSecret): Finding {
  const missing = SHARED_SECRETS.filter((entry) => !isGiven(read, entry) && !held.includes(entry));
  const facts = [
    ...(held.length > 0 ? [`Redis holds ${held.join(', ')}`] : []),
    ...(missing.length > 0 ? [`Redis gets ${missing.join(', ')} at the next start`] : []),
  ];
  if (facts.length === 0) return ok('redis secrets', 'Redis holds no secret.');
  const hasMoved = missing.length === 0 && held.every((entry) => isGiven(read, entry));
  return warn(
    'redis secrets',
    `${facts.join('; ')}. With them, a reader of Redis can check guesses of keys and sign assertions as any caller.`,
    hasMoved
      ? 'They are in the secrets store, too: delete {gateway}:secrets in Redis.'
      : 'Move them to the secrets store: docs/config.md, "Secrets", has the commands.',
  );
}

/** Whether the secrets store contains the entry. An entry that cannot be read is treated as present, because another check reports it. */
function isGiven(read: ReadSecret, entry: string): boolean {
  try {
    return read(entry) !== undefined;
  } catch {
    return true;
  }
}
