// Instances that share a Redis tell a cause once: one speaks for all, another one goes on where it stopped, and each of itself while Redis
// is away.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { AlertMonitor } from '../../../gateway/alerts/alerts.ts';
import { createRedisAlertStore } from '../../../gateway/alerts/redis-store.ts';
import type { Cause } from '../../../gateway/shared/contracts/cause.ts';
import { reachesStore, startAlertMonitor } from '../../support/alert-monitor.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { eventually } from '../../support/instances.ts';
import { apartAt, lookInside, type Relay, startRedis, startRelay, type TestRedis } from '../../support/redis.ts';

const until = (holds: () => boolean) => eventually(async () => holds());
const DEAD = {
  id: 'upstream orders live',
  kind: 'bad',
  cause: 'Upstream orders (live) fails.',
  consequence: '',
} as const;

let laterMs = 0;
const now = () => Date.now() + laterMs;
let redis: TestRedis;
let relay: Relay;
let pager: Awaited<ReturnType<typeof startAlertReceiver>>;
before(async () => {
  [redis, pager] = await Promise.all([startRedis(), startAlertReceiver(undefined, now)]);
  relay = await startRelay(apartAt(redis.url));
});
after(async () => {
  await Promise.all([relay.stop(), redis.stop(), pager.close()]);
});

type Who = 'one' | 'other';
type Causes = Record<'all' | Who, Cause[]>;

/** Starts a monitor that finds these causes, and stores its state behind this address. */
function startMonitor(instance: Who, causes: Causes, url: string): AlertMonitor {
  return startAlertMonitor(pager, {
    causes: async (of) => [...causes[of === 'all' ? 'all' : instance]],
    instance,
    store: createRedisAlertStore(url, now),
    now,
  });
}

it('after an outage of Redis, the instance that spoke goes on, although another one reaches Redis first', async () => {
  const url = apartAt(redis.url);
  const [own, others] = await Promise.all([startRelay(url), startRelay(url)]);
  const causes: Causes = { all: [], one: [], other: [] };
  const one = startMonitor('one', causes, own.url);
  causes.all = [{ ...DEAD, instances: ['one'] }];
  await until(() => pager.delivered.length === 1 && one.report().alerts[0]?.told[0] === 'pager');
  const other = startMonitor('other', causes, others.url);
  await until(() => other.report().alerts.length === 1);
  const away: Cause = { id: 'redis', kind: 'bad', cause: 'Redis is away.', consequence: '' };
  Object.assign(causes, { all: [away], one: [away], other: [away] });
  const server = lookInside(url);
  const lease = `${new URL(url).searchParams.get('keyPrefix')}{gateway}:alerts:speaker`;
  await Promise.all([own.kill(), others.kill()]);
  await until(() => pager.told().flat().includes('firing redis'));
  // The lease ends meanwhile.
  await server.del(lease);
  await others.restart();
  await eventually(() => reachesStore(other));
  for (let checks = 0; checks < 20; checks += 1) await other.endSilence('none');
  assert.equal(await server.get(lease), null);
  await own.restart();
  for (const list of Object.values(causes)) list.length = 0;
  await until(() => pager.told().flat().includes('resolved redis'));
  assert.deepEqual(
    pager
      .told()
      .flat()
      .filter((text) => text.endsWith(' redis')),
    ['firing redis', 'resolved redis'],
  );
  server.disconnect();
  await Promise.all([one.stop(), other.stop()]);
  await Promise.all([own.stop(), others.stop()]);
  pager.delivered.length = 0;
});

it('of two instances one sends alerts, the other takes over, and each reports its own causes while Redis is away', async () => {
  const causes: Causes = { all: [], one: [], other: [] };
  const start = (instance: Who) => startMonitor(instance, causes, relay.url);
  const one = start('one');
  causes.all = [{ ...DEAD, instances: ['one'] }];
  await until(() => pager.delivered.length === 1);
  const other = start('other');
  await until(() => other.report().alerts.length === 1);
  await other.silence({ causes: 'redis', untilMs: now() + 60_000, by: 'ada', reason: '' });
  await until(() => one.report().silences.length === 1);
  assert.equal(await one.endSilence('redis'), true);
  assert.equal(await one.endSilence('redis'), false);

  await one.stop();
  causes.all = [];
  await until(() => pager.delivered.length === 2);
  assert.deepEqual(pager.told(), [['firing upstream orders live'], ['resolved upstream orders live']]);

  const again = start('one');
  causes.all = [{ ...DEAD, instances: ['one'] }];
  await until(() => pager.delivered.length === 3 && again.report().alerts[0]?.told[0] === 'pager');
  const away: Cause = { id: 'redis', kind: 'bad', cause: 'Redis is away.', consequence: '' };
  Object.assign(causes, { one: [{ ...DEAD }, away], other: [away] });
  await relay.kill();
  await until(() => pager.told().at(-1)?.[0] === 'firing redis');
  // The one that did not speak before waits, so that a failover is told once. Neither takes for over what the other one may still see.
  laterMs += 15_000;
  // It leaves the outage of Redis to the one that spoke, for as long as that one may be taken to live.
  await until(() => other.report().alerts.find(({ id }) => id === 'redis')?.told[0] === 'pager');
  assert.equal(pager.told().filter(([text]) => text === 'firing redis').length, 1);
  laterMs += 180_000;
  await until(() => pager.told().filter(([text]) => text === 'firing redis').length === 2);
  // What was on its way when Redis went may come from both, under one id.
  const once = [...new Map(pager.delivered.map((message) => [message.id, message])).values()];
  assert.deepEqual(
    once.slice(2).map(({ alerts }) => alerts.map(({ state, id }) => `${state} ${id}`)),
    [['firing upstream orders live'], ['firing redis'], ['firing redis']],
  );
  // A pager makes one incident of what both tell, and another one of another cause.
  const [dead, first, second] = once.slice(2).map(({ alerts }) => alerts[0]?.dedup_key);
  assert.match(first ?? '', /^[0-9a-f]{32}$/);
  assert.equal(first, second);
  assert.notEqual(first, dead);

  await relay.restart();
  await eventually(async () => (await reachesStore(again)) && (await reachesStore(other)));
  for (const list of Object.values(causes)) list.length = 0;
  await until(() => pager.told().flat().includes('resolved redis'));
  await until(() => [again, other].every((run) => run.report().alerts.every(({ state }) => state === 'ended')));
  assert.equal(
    pager
      .told()
      .flat()
      .filter((text) => text === 'resolved redis').length,
    1,
  );
  await Promise.all([again.stop(), other.stop()]);
});
