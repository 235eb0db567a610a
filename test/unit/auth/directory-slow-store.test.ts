// A store that answers late: repeated questions, and the effect of a change on answers in progress.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import type { Organization } from '../../../gateway/exchange/caller.ts';
import { follow, POLL_MS, settled } from './directory-samples.ts';
import { fakeClock, makeKey, storeWithKey, until } from './samples.ts';

/** Answers of the store at the moment of the question, on their way until they are let through. */
async function slowStore(test: TestContext, { isUnlisted = false } = {}) {
  const { store, key, record } = await storeWithKey(test);
  const state = { lookUps: 0, arriving: Promise.resolve(), isCutOff: false };
  async function slowly<T>(answer: T): Promise<Awaited<T>> {
    state.lookUps += 1;
    const arrived = await answer;
    await state.arriving;
    return arrived;
  }
  function holdAnswers(): () => void {
    const gate = Promise.withResolvers<void>();
    state.arriving = gate.promise;
    return gate.resolve;
  }
  const keys = { ...store.keys, findByDigest: (digest: string) => slowly(store.keys.findByDigest(digest)) };
  const organizations = { ...store.organizations, get: (id: string) => slowly(store.organizations.get(id)) };
  const report: KeyStore['instances']['report'] = (instance) => {
    if (isUnlisted) throw new Error('the report is lost');
    return store.instances.report(instance);
  };
  const since: KeyStore['audit']['since'] = (sequence, limit) =>
    state.isCutOff ? new Promise(() => undefined) : store.audit.since(sequence, limit);
  const needed = {
    ...{ ...store, keys, organizations },
    instances: { ...store.instances, report },
    audit: { ...store.audit, since },
  };
  const directory = follow(test, needed, fakeClock(), { positiveMax: 10, negativeMax: 10 });
  await setTimeout(POLL_MS * 2);
  const confirmed = async (sequence: number) =>
    until(async () => (await store.instances.list()).some(({ position }) => position >= sequence));
  return { store, key, record, state, directory, holdAnswers, confirmed };
}

test('concurrent first requests cost one look-up and get one caller', async (t) => {
  const { directory, key, state } = await slowStore(t);
  const callers = await Promise.all(Array.from({ length: 50 }, () => directory.callerOf(key)));
  assert.equal(new Set(callers).size, 1);
  const owners = await Promise.all(Array.from({ length: 50 }, () => directory.organizationOf('org_acme')));
  assert.equal(new Set(owners).size, 1);
  assert.equal(state.lookUps, 2);
  assert.equal(directory.callerOf(key), callers[0]);
});

test('known callers never wait, however many unknown keys are being looked up', async (t) => {
  const { directory, key, holdAnswers } = await slowStore(t);
  await settled(directory, key);
  const answer = holdAnswers();
  const flood = Array.from({ length: 1000 }, () => directory.callerOf(makeKey()));
  assert.ok(!(directory.callerOf(key) instanceof Promise));
  assert.ok(directory.isKnown(`Bearer ${key}`));
  answer();
  assert.deepEqual(new Set(await Promise.all(flood)), new Set([undefined]));
  const { callers, absences } = directory.status();
  assert.deepEqual({ callers, absences }, { callers: 1, absences: 10 });
});

test('once a revocation is confirmed, a request that comes then is refused, even beside one that is still waiting', async (t) => {
  const { store, directory, key, record, holdAnswers, confirmed } = await slowStore(t);
  const answer = holdAnswers();
  const before = directory.callerOf(key);
  await store.keys.revoke(record.id, 'tests', undefined);
  const { latest } = await store.audit.since(0, 1);
  await confirmed(latest);
  const after = directory.callerOf(key);
  answer();
  assert.equal((await before)?.revoked, false);
  assert.equal((await after)?.revoked, true);
  assert.equal((await directory.callerOf(key))?.revoked, true);
});

test('a gateway that the store does not list asks for each request, because no revocation waits for it', async (t) => {
  const { store, directory, key, record, state, holdAnswers } = await slowStore(t, { isUnlisted: true });
  const answer = holdAnswers();
  const before = [directory.callerOf(key), directory.organizationOf('org_acme')] as const;
  // Confirmed at once. This gateway has not read the changes yet.
  state.isCutOff = true;
  await store.keys.revoke(record.id, 'tests', undefined);
  await store.organizations.suspend('org_acme', 'tests');
  assert.deepEqual(await store.instances.list(), []);
  const after = [directory.callerOf(key), directory.organizationOf('org_acme')] as const;
  answer();
  assert.equal((await before[0])?.revoked, false);
  assert.equal((await after[0])?.revoked, true);
  assert.equal((await after[1])?.state, 'suspended');
});

test('the same holds for organizations: no answer from before a confirmed change', async (t) => {
  const { store, directory, holdAnswers, confirmed } = await slowStore(t);
  const answer = holdAnswers();
  const before = directory.organizationOf('org_acme');
  await store.organizations.suspend('org_acme', 'tests');
  await confirmed((await store.audit.since(0, 1)).latest);
  const after = directory.organizationOf('org_acme');
  answer();
  const states = (await Promise.all([before, after])) as Organization[];
  assert.deepEqual(
    states.map(({ state }) => state),
    ['active', 'suspended'],
  );
  assert.equal((await directory.organizationOf('org_acme'))?.state, 'suspended');
});

test('status names this gateway as the store lists it, and how far it has read', async (t) => {
  const { store, directory, record, confirmed } = await slowStore(t);
  await store.keys.revoke(record.id, 'tests', undefined);
  const { latest } = await store.audit.since(0, 1);
  await confirmed(latest);
  const { instance, position } = directory.status();
  assert.equal(position, latest);
  assert.deepEqual(
    (await store.instances.list()).map(({ id }) => id),
    [instance],
  );
  await directory.close();
  assert.deepEqual(await store.instances.list(), []);
});
