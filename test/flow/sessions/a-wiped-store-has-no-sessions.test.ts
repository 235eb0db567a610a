// Redis is wiped, more than once: its log of ends begins with the same numbers each time, and no session of before is accepted, or has a
// stream open.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LiveSessions } from '../../../gateway/sessions/live/live-sessions.ts';
import { openRedisSessionStore } from '../../../gateway/sessions/store/redis/redis-session-store.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { lookInside, startServer } from '../../support/redis.ts';
import { until } from '../../unit/auth/samples.ts';
import { ring, signIn } from './store-samples.ts';

const start = closesAfterEach();

async function begin() {
  const redis = await start(startServer());
  const store = await start(openRedisSessionStore({ url: redis.url, keys: ring }));
  const sessions = await start(
    new LiveSessions({
      ...{ store, max: 100 },
      redeem: () => assert.fail('nothing is due'),
      reuseMsOf: () => 0,
      discard: () => undefined,
    }),
  );
  const inside = lookInside(redis.url);
  await start({ close: async () => inside.disconnect() });
  return { store, sessions, inside };
}

it('a session is gone with the store that had it, each time', async () => {
  const { store, sessions, inside } = await begin();
  for (let wipes = 0; wipes < 3; wipes += 1) {
    const { hash } = await signIn(store);
    assert.equal((await sessions.find(hash))?.hash, hash);
    await inside.flushall();
    await until(() => !sessions.isKnown(hash));
    assert.equal(await sessions.find(hash), undefined);
  }
});

it('its streams end with it, also one that its request opens later', async () => {
  const { store, sessions, inside } = await begin();
  const { hash } = await signIn(store);
  const session = await sessions.find(hash);
  assert.ok(session);
  const ended: string[] = [];
  sessions.onEnded(session, (reason) => ended.push(reason));
  await inside.flushall();
  await until(() => ended.length === 1);
  sessions.onEnded(session, (reason) => ended.push(reason));
  await until(() => ended.length === 2);
  assert.deepEqual(ended, ['expired', 'expired']);
  assert.equal(sessions.status().watched, 0);
});

it('a stream ends whose session ended during a reconnect; another stays open until its end', async () => {
  const { store, sessions, inside } = await begin();
  const ended: { readonly id: string; readonly reason: string }[] = [];
  const [one, other] = [await signIn(store), await signIn(store)];
  for (const { id, hash } of [one, other]) {
    const session = await sessions.find(hash);
    assert.ok(session);
    sessions.onEnded(session, (reason) => ended.push({ id, reason }));
  }
  await inside.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  for (const { id } of [one, other]) {
    const before = ended.length;
    await until(async () => (await Promise.resolve(store.end(id, 'operator')).catch(() => undefined)) !== undefined);
    await until(() => ended.length > before);
  }
  assert.deepEqual(
    ended.map(({ id }) => id),
    [one.id, other.id],
  );
  // The first end may be older than the first read after the reconnect, which reads none.
  assert.equal(ended[1]?.reason, 'operator');
});
