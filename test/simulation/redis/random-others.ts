// Random use of what else the gateway keeps in Redis: use, deprecated calls, generated secrets, schedules of probes, locks of records,
// alerts, and failures of addresses with their reserved units.

import fc from 'fast-check';
import { createRedisAlertStore } from '../../../gateway/alerts/redis-store.ts';
import { createSecretsInRedis } from '../../../gateway/config/secrets/secrets-redis.ts';
import { openFailureCounters } from '../../../gateway/limits/addresses/failure-counter.ts';
import { createSharedUnits, type SharedUnits } from '../../../gateway/limits/addresses/reserved-units.ts';
import type { ConnectRedis } from '../../../gateway/redis/client.ts';
import { REAL_MACHINE, type Timer } from '../../../gateway/shared/machine.ts';
import { createLatchProbes } from '../../../gateway/upstream/credentials/latch-probes.ts';
import { createRecordLocks, type RecordLock } from '../../../gateway/upstream/rules/requests/record-locks.ts';
import { spanAt } from '../../../gateway/usage/periods.ts';
import { createRedisUsageStore } from '../../../gateway/usage/redis-store.ts';
import type { StatusClass } from '../../../gateway/usage/store.ts';
import { createRedisUseStore } from '../../../gateway/versions/redis-store.ts';

const NOW_MS = 1_767_225_600_000;
const HOUR_MS = 3_600_000;
const DETAILS_MAX = 3;
const RULES = { failures: 3, windowSeconds: 1000 };
const now = () => NOW_MS;

export async function openOthers(url: string, connect: ConnectRedis) {
  const renewals: (() => void)[] = [];
  const timer: Timer = { unref: () => timer, refresh: () => timer };
  const setInterval = (renew: () => void) => {
    renewals.push(renew);
    return timer;
  };
  const locks = ['one', 'other'].map(() => createRecordLocks({ redisUrl: url, connect, onChange: () => undefined }));
  return {
    usage: await createRedisUsageStore({ url, connect, now, keepDays: () => 400, detailsMax: DETAILS_MAX }),
    versions: await createRedisUseStore(url, now, connect),
    secrets: createSecretsInRedis({ url, patienceMs: 0, connect }),
    probes: createLatchProbes(url, '', connect),
    counter: openFailureCounters(url, connect).counter('compared', () => RULES),
    units: createSharedUnits(connect({ url }), 100_000, {
      ...REAL_MACHINE,
      setInterval,
      clearInterval: () => undefined,
    }),
    /** Renews what is reserved. */
    renew: () => renewals.at(-1)?.(),
    reserved: [] as Awaited<ReturnType<SharedUnits['reserve']>>[],
    alerts: ['one', 'other'].map(() => createRedisAlertStore(url, now, connect)),
    locks,
    held: [] as RecordLock[],
  };
}

export type OtherStores = Awaited<ReturnType<typeof openOthers>>;
type UseOfOthers = (others: OtherStores) => unknown;

const use = <T extends unknown[]>(
  drawn: { [K in keyof T]: fc.Arbitrary<T[K]> },
  make: (...values: T) => UseOfOthers,
): fc.Arbitrary<UseOfOthers> => fc.tuple(...(drawn as fc.Arbitrary<unknown>[])).map((values) => make(...(values as T)));

const ids = fc.constantFrom('1', '2', '3');
const organizations = fc.constantFrom('org_a', 'org_é');
const operations = fc.constantFrom('list', 'a "b"', '');
const small = fc.integer({ min: 0, max: 5 });
const moments = fc.integer({ min: 0, max: 300_000 }).map((ms) => NOW_MS + ms);
const whose = fc.constantFrom(0, 1);
const texts = fc.constantFrom('a', 'é', 'b'.repeat(40));
const entries = fc.array(
  fc.record({
    hourMs: fc.constantFrom(NOW_MS, NOW_MS + HOUR_MS),
    operation: operations,
    key: ids.map((id) => `key_${id}`),
    statusClass: fc.constantFrom<StatusClass>(2, 4, 5),
    requests: fc.integer({ min: 1, max: 1000 }),
  }),
  { minLength: 1, maxLength: 4 },
);

const usageUses = [
  use(
    [ids, small, small, entries, entries],
    (writer, one, other, ofA, ofB) =>
      ({ usage }) =>
        usage.add(writer, [
          { number: one, organization: 'org_a', dayMs: NOW_MS, entries: ofA },
          { number: other, organization: 'org_é', dayMs: NOW_MS, entries: ofB },
        ]),
  ),
  use(
    [
      organizations,
      fc.constantFrom('hour', 'day', 'month'),
      fc.option(operations, { nil: undefined }),
      ids,
      fc.boolean(),
    ],
    (organization, unit, operation, id, isOfOne) =>
      async ({ usage }) => {
        const span = spanAt(unit, NOW_MS);
        const key = isOfOne ? `key_${id}` : undefined;
        const times = { fromMs: NOW_MS, toMs: NOW_MS + 2 * HOUR_MS };
        for await (const piece of usage.scan({ organization, span, ...times, periods: 1, operation, key })) void piece;
      },
  ),
  use(
    [ids, moments],
    (writer, untilMs) =>
      ({ usage }) =>
        usage.mark(writer, untilMs),
  ),
  use(
    [ids],
    (writer) =>
      ({ usage }) =>
        usage.end(writer),
  ),
  use(
    [],
    () =>
      ({ usage }) =>
        usage.marks(),
  ),
];

const otherThings = [
  use(
    [organizations, operations, small, moments],
    (organization, operation, calls, lastAtMs) =>
      ({ versions }) =>
        versions.add([{ day: '2026-01-01', organization, operation, calls: calls + 1, lastAtMs }]),
  ),
  use(
    [],
    () =>
      ({ versions }) =>
        versions.list('2026-01-01'),
  ),
  use(
    [organizations],
    (organization) =>
      ({ versions }) =>
        versions.list('2026-01-01', { organization, operations: ['list'] }),
  ),
  use(
    [texts],
    (value) =>
      ({ secrets }) =>
        secrets.make('a_secret', value),
  ),
  use(
    [],
    () =>
      ({ secrets }) =>
        secrets.make('key_pepper', 'p'),
  ),
  use(
    [],
    () =>
      ({ secrets }) =>
        secrets.read('a_secret'),
  ),
  use(
    [texts],
    (value) =>
      ({ secrets }) =>
        secrets.restore('a_secret', value),
  ),
  use(
    [texts, texts],
    (former, value) =>
      ({ secrets }) =>
        secrets.replace('a_secret', former, value),
  ),
  use(
    [moments],
    (nowMs) =>
      ({ probes }) =>
        probes.take('mail', NOW_MS, nowMs),
  ),
  use(
    [moments],
    (nowMs) =>
      ({ probes }) =>
        probes.healed('mail', nowMs),
  ),
  use(
    [ids],
    (address) =>
      ({ counter }) =>
        counter.count(address),
  ),
  use([ids], (address) => async ({ units, reserved }) => {
    reserved.push(await units.reserve(`failures:compared:${address}`, 2));
  }),
  use(
    [],
    () =>
      ({ renew }) =>
        renew(),
  ),
  use(
    [],
    () =>
      ({ reserved }) =>
        reserved.shift()?.giveBack?.(),
  ),
  use([fc.constantFrom(0, 1), ids], (who, record) => async ({ locks, held }) => {
    const lock = locks[who]?.lockOf(record) as RecordLock;
    held.push(lock);
    await lock.take(60_000, AbortSignal.timeout(5));
  }),
  use(
    [],
    () =>
      ({ held }) =>
        held.shift()?.release(),
  ),
];

const alertUses = [
  use(
    [whose],
    (who) =>
      ({ alerts }) =>
        alerts[who]?.take(true),
  ),
  use(
    [whose, texts],
    (who, told) =>
      ({ alerts }) =>
        alerts[who]?.write(told),
  ),
  use(
    [whose, texts],
    (who, told) =>
      ({ alerts }) =>
        alerts[who]?.handOver(told),
  ),
  use(
    [whose, texts, moments],
    (who, causes, untilMs) =>
      ({ alerts }) =>
        alerts[who]?.setSilence({ causes, untilMs: untilMs - 150_000, by: 'ada', reason: '' }),
  ),
  use(
    [whose, texts],
    (who, causes) =>
      ({ alerts }) =>
        alerts[who]?.endSilence(causes),
  ),
  use(
    [whose],
    (who) =>
      ({ alerts }) =>
        alerts[who]?.close(),
  ),
];

export const otherUses = [usageUses, otherThings, alertUses].flat();
