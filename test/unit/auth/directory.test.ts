import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyStore, KeyStoreChange } from '../../../gateway/auth/store/key-store.ts';
import { follow, settled, switchable } from './directory-samples.ts';
import { fakeClock, issue, makeKey, organization, storeWithKey, until } from './samples.ts';

test('the same frozen caller serves every request, after one look-up', async (t) => {
  const { store, key, record } = await storeWithKey({ scopes: ['jobs:read'], allowedCidrs: ['192.0.2.0/24'] });
  const { state, needed } = switchable(store);
  const directory = follow(t, needed);
  await settled(directory, key);
  state.lookUps = 0;
  const caller = await directory.callerOf(key);
  assert.ok(caller);
  for (let index = 0; index < 10; index += 1) assert.equal(directory.callerOf(key), caller);
  assert.equal(state.lookUps, 0);
  assert.ok(Object.isFrozen(caller) && Object.isFrozen(caller.organization));
  assert.equal(caller.subject, record.id);
  assert.deepEqual(caller.organization, organization());
  assert.deepEqual([...caller.scopes], ['jobs:read']);
  assert.equal(caller.allowsAddress?.('192.0.2.9'), true);
  assert.equal(caller.allowsAddress?.('192.0.3.9'), false);
  assert.equal(caller.expiresAtMs, Number.POSITIVE_INFINITY);
});

const changes: Record<string, (store: KeyStore, id: string) => unknown> = {
  'a revocation': (store, id) => store.keys.revoke(id, 'tests', undefined),
  'a suspension': (store) => store.organizations.suspend('org_acme', 'tests'),
  'a tier change': (store) => store.organizations.change('org_acme', { tier: 'premium' }, 'tests'),
};
for (const [what, change] of Object.entries(changes)) {
  test(`${what} is seen within a poll, and affects no other entry`, async (t) => {
    const { store, key, record } = await storeWithKey(t);
    await store.organizations.create(organization({ id: 'org_other' }), 'tests');
    const other = issue({ organization: 'org_other' });
    await store.keys.create(other.record);
    const directory = follow(t, store);
    await settled(directory, key);
    const [before, bystander] = [directory.callerOf(key), directory.callerOf(other.key)];
    await change(store, record.id);
    await until(() => directory.callerOf(key) !== before);
    assert.equal(directory.callerOf(other.key), bystander);
  });
}

test('revocation, suspension and tier show in the caller', async (t) => {
  const { store, key, record } = await storeWithKey(t);
  const directory = follow(t, store);
  await store.organizations.change('org_acme', { tier: 'premium' }, 'tests');
  await until(async () => (await directory.callerOf(key))?.organization?.tier === 'premium');
  await store.organizations.suspend('org_acme', 'tests');
  await until(async () => (await directory.callerOf(key))?.organization?.state === 'suspended');
  await store.keys.revoke(record.id, 'tests', undefined);
  await until(async () => (await directory.callerOf(key))?.revoked);
});

test('a key that was unknown works within a poll of being made', async (t) => {
  const { store, key } = await storeWithKey(t);
  const directory = follow(t, store);
  await settled(directory, key);
  const made = issue();
  assert.equal(directory.callerOf(made.key), undefined);
  await store.keys.create(made.record);
  await until(() => directory.callerOf(made.key));
});

test('an unknown key is looked up once, not with every request', async (t) => {
  const { store, key } = await storeWithKey(t);
  const { state, needed } = switchable(store);
  const directory = follow(t, needed);
  await settled(directory, key);
  state.lookUps = 0;
  const unknown = makeKey();
  for (let index = 0; index < 10; index += 1) assert.equal(directory.callerOf(unknown), undefined);
  assert.equal(state.lookUps, 1);
});

test('a string without the form of a key is refused without a look-up', async (t) => {
  const { store, key } = await storeWithKey(t);
  const { state, needed } = switchable(store);
  const directory = follow(t, needed);
  await settled(directory, key);
  state.lookUps = 0;
  const wrong = ['', `${key.slice(0, -1)}-`, key.replace('live', 'test'), `${key}x`, ` ${key.slice(1)}`];
  for (const text of wrong) assert.throws(() => directory.callerOf(text), { code: 'api_key_malformed' }, text);
  assert.equal(state.lookUps, 0);
});

test('a change of a kind this version does not know drops everything', async (t) => {
  const { store, key } = await storeWithKey(t);
  const strange: KeyStoreChange[] = [];
  const since: KeyStore['audit']['since'] = async (sequence, limit) => {
    const { latest, changes } = await store.audit.since(sequence, limit);
    return { latest, changes: [...changes, ...strange.splice(0)] };
  };
  const directory = follow(t, { ...store, audit: { ...store.audit, since } });
  await settled(directory, key);
  const first = directory.callerOf(key);
  const change = {
    sequence: 99,
    atMs: 0,
    by: 'x',
    kind: 'key.exalted',
    organization: undefined,
    key: 'k',
    details: {},
  };
  strange.push(change as unknown as KeyStoreChange);
  await until(() => directory.callerOf(key) !== first);
});

test('isKnown holds for keys that were found good, and for nothing else', async (t) => {
  const clock = fakeClock();
  const { store, key, record } = await storeWithKey({ expiresAtMs: clock.now() + 1000 });
  const directory = follow(t, store, clock);
  assert.equal(directory.isKnown(`Bearer ${key}`), false);
  await settled(directory, key);
  assert.equal(directory.isKnown(`Bearer ${key}`), true);
  assert.equal(directory.isKnown(`bearer  ${key}`), true);
  for (const other of [undefined, '', key, `Basic ${key}`, `Bearer ${makeKey()}`]) {
    assert.equal(directory.isKnown(other), false);
  }
  clock.advance(1000);
  assert.equal(directory.isKnown(`Bearer ${key}`), false);
  clock.advance(-1000);
  await store.keys.revoke(record.id, 'tests', undefined);
  await until(async () => (await directory.callerOf(key))?.revoked);
  assert.equal(directory.isKnown(`Bearer ${key}`), false);
});

test('a flood of well-formed keys leaves memory bounded and known callers in place', async (t) => {
  const { store, key } = await storeWithKey(t);
  const directory = follow(t, store, fakeClock(), { positiveMax: 100, negativeMax: 500 });
  await settled(directory, key);
  const known = directory.callerOf(key);
  for (let index = 0; index < 5000; index += 1) assert.equal(directory.callerOf(makeKey()), undefined);
  assert.equal(directory.callerOf(key), known);
  const { callers, absences } = directory.status();
  assert.deepEqual({ callers, absences }, { callers: 1, absences: 500 });
  assert.equal(directory.isKnown(`Bearer ${key}`), true);
});

test('the last use of a key is in the store after close', async (t) => {
  const { store, key, record } = await storeWithKey(t);
  const clock = fakeClock();
  const directory = follow(t, store, clock);
  clock.advance(5000);
  await directory.callerOf(key);
  await directory.close();
  assert.equal((await store.keys.get(record.id))?.lastUsedAtMs, clock.now());
});

test('a rotated key gets its end and its successor works at once, also if it was tried too early', async (t) => {
  const clock = fakeClock();
  const { store, key, record } = await storeWithKey(t);
  const directory = follow(t, store, clock);
  await settled(directory, key);
  const successor = issue();
  assert.equal(directory.callerOf(successor.key), undefined);
  await store.keys.rotate(record.id, successor.record, clock.now() + 1000);
  await until(() => directory.callerOf(successor.key));
  const { expiresAtMs } = (await directory.callerOf(key)) ?? {};
  assert.equal(expiresAtMs, clock.now() + 1000);
  assert.equal(directory.isKnown(`Bearer ${key}`), true);
  clock.advance(1000);
  assert.deepEqual(
    [key, successor.key].map((one) => directory.isKnown(`Bearer ${one}`)),
    [false, true],
  );
});

test('the same frozen organization is answered until something about it changes', async (t) => {
  const { store, key } = await storeWithKey(t);
  const { state, needed } = switchable(store);
  const directory = follow(t, needed);
  await settled(directory, key);
  state.lookUps = 0;
  const acme = await directory.organizationOf('org_acme');
  assert.deepEqual(acme, organization());
  assert.ok(Object.isFrozen(acme));
  for (let index = 0; index < 10; index += 1) assert.equal(directory.organizationOf('org_acme'), acme);
  assert.equal(state.lookUps, 1);
  await store.organizations.change('org_acme', { tier: 'premium' }, 'tests');
  await until(() => directory.organizationOf('org_acme') !== acme);
  assert.equal((await directory.organizationOf('org_acme'))?.tier, 'premium');
});

test('an unknown organization is found as soon as it exists', async (t) => {
  const { store, key } = await storeWithKey(t);
  const directory = follow(t, store);
  await settled(directory, key);
  assert.equal(await directory.organizationOf('org_new'), undefined);
  await store.organizations.create(organization({ id: 'org_new' }), 'tests');
  assert.equal((await directory.organizationOf('org_new'))?.id, 'org_new');
});
