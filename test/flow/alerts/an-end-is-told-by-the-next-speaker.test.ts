// The end of an alert that was told while Redis took no writes is told by the instance that speaks afterwards, once and with one time.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { createRedisAlertStore } from '../../../gateway/alerts/redis-store.ts';
import type { AlertStore } from '../../../gateway/alerts/store.ts';
import type { Cause } from '../../../gateway/shared/contracts/cause.ts';
import { reachesStore, startAlertMonitor } from '../../support/alert-monitor.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { eventually } from '../../support/instances.ts';
import { apartAt, lookInside, startServer, type TestRedis } from '../../support/redis.ts';

const until = (holds: () => boolean) => eventually(async () => holds());
const AWAY: Cause = { id: 'redis', kind: 'bad', cause: 'Redis takes no writes.', consequence: '' };

let laterMs = 0;
const now = () => Date.now() + laterMs;
let redis: TestRedis;
let pager: Awaited<ReturnType<typeof startAlertReceiver>>;
const stops: (() => unknown)[] = [];
before(async () => {
  [redis, pager] = await Promise.all([startServer(), startAlertReceiver(undefined, now)]);
});
after(async () => {
  await Promise.all(stops.map((stop) => stop()));
  await Promise.all([redis.stop(), pager.close()]);
});

/** Starts an instance that finds these causes. `frozen` keeps its calls of the store from being answered. */
function startInstance(instance: string, causes: readonly Cause[], url: string) {
  const state = { frozen: false };
  const store = createRedisAlertStore(url, now);
  const thawed = async () => eventually(async () => !state.frozen);
  const guarded: AlertStore = {
    ...store,
    take: async (mayBegin) => {
      await thawed();
      return store.take(mayBegin);
    },
    write: async (outboxes) => {
      await thawed();
      return store.write(outboxes);
    },
  };
  const monitor = startAlertMonitor(pager, { causes: async () => [...causes], instance, store: guarded, now });
  stops.push(() => {
    state.frozen = false;
    return monitor.stop();
  });
  return { monitor, state };
}

/** Lets one instance tell that Redis takes no writes. The other one leaves that to it, or sees nothing. */
async function outage(seenByBoth: boolean) {
  pager.delivered.length = 0;
  const url = apartAt(redis.url);
  const server = lookInside(url);
  stops.push(() => server.disconnect());
  const lease = `${new URL(url).searchParams.get('keyPrefix')}{gateway}:alerts:speaker`;
  const causes: Cause[] = [];
  const othersCauses = seenByBoth ? causes : [];
  const speaker = startInstance('one', causes, url);
  await eventually(async () => (await server.get(lease)) !== null);
  const other = startInstance('other', othersCauses, url);
  await eventually(async () => other.monitor.endSilence('none').then(() => true));
  await server.config('SET', 'maxmemory', '1');
  causes.push(AWAY);
  await until(() => pager.told().flat().includes('firing redis'));
  await server.del(lease);
  laterMs += 15_000;
  return { server, lease, causes, speaker, other };
}

it('the next speaker tells the end of what the last one told while Redis took no writes', async () => {
  const { server, causes, speaker, other } = await outage(true);
  await until(() => other.monitor.report().alerts[0]?.told[0] === 'pager');
  speaker.state.frozen = true;
  causes.length = 0;
  await server.config('SET', 'maxmemory', '0');
  await until(() => other.monitor.report().alerts.length === 0);
  laterMs += 15_000;
  await until(() => pager.told().flat().includes('resolved redis'));
  assert.deepEqual(pager.told().flat(), ['firing redis', 'resolved redis']);
});

it('an instance that told something while it was alone hands it over to the instance that speaks by then', async () => {
  const { server, lease, speaker, other } = await outage(false);
  speaker.state.frozen = true;
  await server.config('SET', 'maxmemory', '0');
  await eventually(() => reachesStore(other.monitor));
  laterMs += 15_000;
  await eventually(async () => (await reachesStore(other.monitor)) && (await server.get(lease)) !== null);
  speaker.state.frozen = false;
  await until(() => pager.told().flat().includes('resolved redis'));
  assert.deepEqual(pager.told().flat(), ['firing redis', 'resolved redis']);
});

it('a store that comes back with earlier alerts lets no instance tell their end again', async () => {
  pager.delivered.length = 0;
  const url = apartAt(redis.url);
  const server = lookInside(url);
  stops.push(() => server.disconnect());
  const [lease, stored] = ['speaker', 'told'].map(
    (name) => `${new URL(url).searchParams.get('keyPrefix')}{gateway}:alerts:${name}`,
  ) as [string, string];
  const causes: Cause[] = [AWAY];
  const speaker = startInstance('one', causes, url);
  await until(() => speaker.monitor.report().alerts[0]?.told[0] === 'pager');
  const other = startInstance('other', causes, url);
  await until(() => other.monitor.report().alerts[0]?.told[0] === 'pager');
  const earlier = String(await server.get(stored));
  causes.length = 0;
  await until(() => pager.told().flat().includes('resolved redis'));
  await until(() => other.monitor.report().alerts.length === 0);

  speaker.state.frozen = true;
  await server.set(stored, earlier);
  await server.del(lease);
  laterMs += 15_000;
  await eventually(async () => (await reachesStore(other.monitor)) && (await server.get(lease)) !== null);
  for (let checks = 0; checks < 20; checks += 1) await other.monitor.endSilence('none');
  await eventually(async () => (await server.get(stored)) !== earlier);
  // A message whose delivery was not stored yet may arrive twice.
  const once = new Map(pager.delivered.map((message) => [message.id, message.alerts.map(({ state }) => state)]));
  assert.deepEqual([...once.values()].flat(), ['firing', 'resolved']);
});
