import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { follow, GRACE_MS, POLL_MS, settled, switchable } from './directory-samples.ts';
import { fakeClock, makeKey, refusal, storeWithKey, until } from './samples.ts';

test('while the store is away known keys go on through the grace, unknown ones get auth_unavailable, and status says so', async (t) => {
  const { store, key } = await storeWithKey(t);
  const { state, needed } = switchable(store);
  const clock = fakeClock();
  const directory = follow(t, needed, clock);
  await settled(directory, key);
  const absent = makeKey();
  assert.equal(directory.callerOf(absent), undefined);
  const known = directory.callerOf(key);
  assert.equal(directory.status().store, 'reachable');

  state.away = true;
  await until(() => directory.status().store === 'failing');
  const lostAtMs = directory.status().readAtMs;
  assert.equal(directory.status().graceEndsAtMs, lostAtMs + GRACE_MS);
  assert.match(directory.status().reason ?? '', /away/);
  assert.equal(directory.callerOf(key), known);
  assert.throws(() => directory.callerOf(makeKey()), refusal('auth_unavailable'));
  assert.throws(() => directory.callerOf(absent), refusal('auth_unavailable'));

  clock.advance(GRACE_MS);
  assert.equal(directory.callerOf(key), known);
  clock.advance(1);
  assert.throws(() => directory.callerOf(key), refusal('auth_unavailable'));
  assert.equal(directory.isKnown(`Bearer ${key}`), false);

  state.away = false;
  await until(() => directory.status().store === 'reachable');
  assert.equal(directory.callerOf(key), known);
});

test('what was revoked while the store was away is refused as soon as it is back', async (t) => {
  const { store, key, record } = await storeWithKey(t);
  const { state, needed } = switchable(store);
  const directory = follow(t, needed);
  await settled(directory, key);
  state.away = true;
  await until(() => directory.status().store === 'failing');
  await store.keys.revoke(record.id, 'tests', undefined);
  state.away = false;
  await until(() => directory.status().store === 'reachable');
  assert.equal((await directory.callerOf(key))?.revoked, true);
});

test('a look-up that fails is auth_unavailable, never "no such key"', async (t) => {
  const { store, key } = await storeWithKey(t);
  const findByDigest = async () => Promise.reject(new Error('connection lost'));
  const directory = follow(t, { keys: { ...store.keys, findByDigest }, audit: store.audit });
  await assert.rejects(async () => directory.callerOf(key), refusal('auth_unavailable'));
});

test('with a store that has to be waited for, concurrent first requests get one caller', async (t) => {
  const { store, key } = await storeWithKey(t);
  const findByDigest = async (digest: string) => {
    await setTimeout(1);
    return store.keys.findByDigest(digest);
  };
  const directory = follow(t, { keys: { ...store.keys, findByDigest }, audit: store.audit });
  await setTimeout(POLL_MS * 2);
  const callers = await Promise.all(Array.from({ length: 20 }, () => directory.callerOf(key)));
  assert.equal(new Set(callers).size, 1);
});

test('an answer that was under way when the key was revoked is not kept', async (t) => {
  const { store, key, record } = await storeWithKey(t);
  const directory = follow(t, {
    audit: store.audit,
    keys: {
      ...store.keys,
      async findByDigest(digest) {
        const stale = await store.keys.findByDigest(digest);
        await store.keys.revoke(record.id, 'tests', undefined);
        await setTimeout(POLL_MS * 3);
        return stale;
      },
    },
  });
  await setTimeout(POLL_MS * 2);
  assert.equal((await directory.callerOf(key))?.revoked, false);
  assert.equal((await directory.callerOf(key))?.revoked, true);
});
