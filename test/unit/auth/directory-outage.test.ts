import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Directory } from '../../../gateway/auth/directory.ts';
import { REAL_MACHINE } from '../../../gateway/shared/machine.ts';
import { follow, GRACE_MS, settled, switchable } from './directory-samples.ts';
import { digestOf, fakeClock, makeKey, refusal, storeWithKey, until } from './samples.ts';

test('while the store is away known keys work during the grace, unknown keys get auth_unavailable, and the status shows it', async (t) => {
  const { store, key } = await storeWithKey(t);
  const { state, needed } = switchable(store);
  const clock = fakeClock();
  const directory = follow(t, needed, clock);
  await settled(directory, key);
  const absent = makeKey();
  assert.equal(directory.callerOf(absent), undefined);
  const [known, acme] = [directory.callerOf(key), directory.organizationOf('org_acme')];
  assert.equal(directory.status().store, 'reachable');

  state.away = true;
  await until(() => directory.status().store === 'failing');
  const lostAtMs = directory.status().readAtMs;
  assert.equal(directory.status().graceEndsAtMs, lostAtMs + GRACE_MS);
  assert.match(directory.status().reason ?? '', /away/);
  state.lookUps = 0;
  assert.equal(directory.callerOf(key), known);
  assert.throws(() => directory.callerOf(makeKey()), refusal('auth_unavailable'));
  assert.throws(() => directory.callerOf(absent), refusal('auth_unavailable'));
  assert.equal(directory.organizationOf('org_acme'), acme);
  assert.throws(() => directory.organizationOf('org_other'), refusal('auth_unavailable'));
  assert.equal(state.lookUps, 0);

  clock.advance(GRACE_MS);
  assert.equal(directory.callerOf(key), known);
  clock.advance(1);
  assert.throws(() => directory.callerOf(key), refusal('auth_unavailable'));
  assert.throws(() => directory.organizationOf('org_acme'), refusal('auth_unavailable'));
  assert.equal(directory.isKnown(`Bearer ${key}`), false);

  state.away = false;
  await until(() => directory.status().store === 'reachable');
  assert.equal(directory.callerOf(key), known);
});

test('a key revoked while the store was away is refused as soon as it is back', async (t) => {
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

test('after an outage longer than the grace, known keys are looked up until the store lists this gateway again', async (t) => {
  const { store, key } = await storeWithKey(t);
  const { state, needed } = switchable(store);
  const clock = fakeClock();
  const life = { passedMs: 0 };
  const performanceNow = () => REAL_MACHINE.performance.now() + life.passedMs;
  const directory = follow(t, needed, clock, undefined, { ...REAL_MACHINE, performance: { now: performanceNow } });
  await settled(directory, key);
  async function lookUps(): Promise<number> {
    state.lookUps = 0;
    for (let count = 0; count < 3; count += 1) {
      assert.notEqual(await directory.callerOf(key), undefined);
      assert.notEqual(await directory.organizationOf('org_acme'), undefined);
    }
    return state.lookUps;
  }
  await until(async () => (await lookUps()) === 0);

  state.away = true;
  state.unlisted = true;
  await until(() => directory.status().store === 'failing');
  clock.advance(GRACE_MS + 20_000);
  state.away = false;
  await until(() => directory.status().store === 'reachable');
  assert.equal(await lookUps(), 6);

  state.unlisted = false;
  state.reports = 0;
  await until(() => state.reports > 0);
  // A replica that takes over may lack the report.
  assert.equal(await lookUps(), 6);
  life.passedMs = 10_000;
  await until(async () => (await lookUps()) === 0);
});

test('a gateway that has just started need not wait for a poll to use its cache', async (t) => {
  const { store, key } = await storeWithKey(t);
  const { state, needed } = switchable(store);
  const now = fakeClock().now;
  const bounds = { positiveMax: 100, negativeMax: 100 };
  const rare = { pollMs: 3_600_000, graceMs: GRACE_MS };
  const directory = new Directory({ store: needed, digestOf, host: 'here', pid: 1, now, ...rare, ...bounds });
  t.after(() => directory.close());
  await until(async () => {
    state.lookUps = 0;
    assert.notEqual(await directory.callerOf(key), undefined);
    return state.lookUps === 0;
  });
});

test('a look-up that fails is auth_unavailable, never "no such key"', async (t) => {
  const { store, key } = await storeWithKey(t);
  const findByDigest = async () => Promise.reject(new Error('connection lost'));
  const directory = follow(t, { ...store, keys: { ...store.keys, findByDigest } });
  await assert.rejects(async () => directory.callerOf(key), refusal('auth_unavailable'));
});

test('a process that stood still for longer than the grace looks a known key up', async (t) => {
  const { store, key } = await storeWithKey(t);
  const { state, needed } = switchable(store);
  const clock = fakeClock();
  const directory = follow(t, needed, clock);
  await settled(directory, key);
  // Before its first look at the changes since: commands no longer wait for it.
  clock.advance(GRACE_MS + 1);
  state.lookUps = 0;
  directory.callerOf(key);
  assert.equal(state.lookUps, 1);
});

test('a clock that is set back during an outage does not lengthen the grace', async (t) => {
  const { store, key } = await storeWithKey(t);
  const { state, needed } = switchable(store);
  const clock = fakeClock();
  let lifeMs = 0;
  const directory = follow(t, needed, clock, undefined, { ...REAL_MACHINE, performance: { now: () => lifeMs } });
  await settled(directory, key);
  state.away = true;
  await until(() => directory.status().store === 'failing');
  clock.advance(-3_600_000);
  lifeMs += GRACE_MS;
  assert.ok(directory.callerOf(key));
  lifeMs += 1;
  assert.throws(() => directory.callerOf(key), refusal('auth_unavailable'));
});
