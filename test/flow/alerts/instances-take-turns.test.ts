// Instances that share a Redis tell a cause once: one speaks for all, another one goes on where it stopped, and each of itself while Redis
// is away.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { AlertMonitor } from '../../../gateway/alerts/alerts.ts';
import { createRedisAlertStore } from '../../../gateway/alerts/redis-store.ts';
import { alertSettings } from '../../../gateway/alerts/settings.ts';
import type { Cause } from '../../../gateway/shared/contracts/cause.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { eventually } from '../../support/instances.ts';
import { apartAt, type Relay, startRedis, startRelay, type TestRedis } from '../../support/redis.ts';

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

it('of two instances one sends alerts, the other takes over, and each reports its own causes while Redis is away', async () => {
  const settings = alertSettings.parse({
    receivers: { pager: { webhook: { url: pager.url, secret: 'pager_key' } } },
    ...{ forSeconds: 0, recoverySeconds: 0, groupSeconds: 0 },
  });
  const causes: Record<'all' | 'one' | 'other', Cause[]> = { all: [], one: [], other: [] };
  const start = (instance: 'one' | 'other'): AlertMonitor =>
    new AlertMonitor({
      inForce: async () => ({ settings, gateway: 'https://api.example.com' }),
      causes: async (of) => [...causes[of === 'all' ? 'all' : instance]],
      instance,
      store: createRedisAlertStore(relay.url, now),
      consoleUrl: 'http://127.0.0.1:9090',
      readSecret: () => pager.secret,
      isServing: () => true,
      logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
      onOutcome: () => undefined,
      version: 'test',
      now,
      checkMs: 20,
    });
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
  const isReached = (run: AlertMonitor) =>
    run.endSilence('none').then(
      () => true,
      () => false,
    );
  await eventually(async () => (await isReached(again)) && (await isReached(other)));
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
