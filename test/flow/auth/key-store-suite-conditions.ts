// The part of the suite about conditions: a change is made if the records are as they were read, and otherwise leaves no trace.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConditionFailed, type Conditions, type KeyStore } from '../../../gateway/auth/store/key-store.ts';
import type { StoredKey } from '../../../gateway/auth/store/stored-key.ts';
import type { Organization } from '../../../gateway/exchange/caller.ts';
import { issue, organization, START_MS } from '../../unit/auth/samples.ts';
import type { Open } from './key-store-suite-open.ts';

const ENDS_AT_MS = START_MS + 60_000;

interface Scene {
  readonly store: KeyStore;
  /** The key that is changed. */
  readonly target: StoredKey;
  /** Another key that is a condition. */
  readonly acting: StoredKey;
  readonly acme: Organization;
  /** An organization that is a condition. */
  readonly other: Organization;
}

async function set(store: KeyStore): Promise<Scene> {
  const [acme, other] = [organization(), organization({ id: 'org_other', contacts: ['ö@example.com'] })];
  for (const one of [acme, other]) await store.organizations.create(one, 'me');
  const [target, acting] = [
    issue({ name: 'target ü' }).record,
    issue({ name: 'acting', expiresAtMs: ENDS_AT_MS }).record,
  ];
  for (const key of [target, acting]) await store.keys.create(key);
  return { store, target, acting, acme, other };
}

/** Every change that takes conditions. */
const changes: Record<string, (scene: Scene, conditions: Conditions) => unknown> = {
  'a creation': ({ store }, conditions) => store.keys.create(issue().record, 'me', conditions),
  'a change': ({ store, target }, conditions) => store.keys.change(target.id, { name: 'after' }, 'me', conditions),
  'a change of nothing': ({ store, target }, conditions) =>
    store.keys.change(target.id, { name: target.name }, 'me', conditions),
  'a rotation': ({ store, target }, conditions) =>
    store.keys.rotate(target.id, issue().record, ENDS_AT_MS, 'me', conditions),
  'a revocation': ({ store, target }, conditions) => store.keys.revoke(target.id, 'me', undefined, conditions),
  'a new organization': ({ store }, conditions) =>
    store.organizations.create(organization({ id: 'org_new' }), 'me', conditions),
  'another tier': ({ store }, conditions) =>
    store.organizations.change('org_acme', { tier: 'premium' }, 'me', conditions),
  'a suspension': ({ store }, conditions) => store.organizations.suspend('org_acme', 'me', conditions),
  'a resumption': ({ store }, conditions) => store.organizations.resume('org_acme', 'me', conditions),
};

/** Everything that may happen to a record between the reading and the change. */
const disturbances: Record<string, (scene: Scene) => unknown> = {
  'the acting key is revoked': ({ store, acting }) => store.keys.revoke(acting.id, 'you', undefined),
  'the acting key is rotated': ({ store, acting }) => store.keys.rotate(acting.id, issue().record, ENDS_AT_MS),
  'the acting key loses a scope': ({ store, acting }) => store.keys.change(acting.id, { scopes: [] }, 'you'),
  'the acting key gets addresses': ({ store, acting }) =>
    store.keys.change(acting.id, { allowedCidrs: ['192.0.2.1'] }, 'you'),
  'the acting key loses its end': ({ store, acting }) =>
    store.keys.change(acting.id, { expiresAtMs: undefined }, 'you'),
  'the other organization is suspended': ({ store }) => store.organizations.suspend('org_other', 'you'),
  'the other organization gets a tier': ({ store }) =>
    store.organizations.change('org_other', { tier: 'premium' }, 'you'),
  'the other organization gets contacts': ({ store }) =>
    store.organizations.change('org_other', { contacts: [] }, 'you'),
};

const usual = new Set(['the acting key is revoked', 'the other organization is suspended']);

async function stateOf({ keys, organizations, audit }: KeyStore) {
  return [await keys.list(), await organizations.list(), await audit.list({ limit: 100 })];
}

const failure = (condition: keyof Conditions) => (thrown: unknown) =>
  thrown instanceof ConditionFailed && thrown.condition === condition;

export function conditionTests(name: string, open: Open): void {
  for (const [what, change] of Object.entries(changes)) {
    test(`${name}: ${what} is made while its conditions hold, whatever was used meanwhile`, async (t) => {
      const scene = await set(await open(t));
      await scene.store.keys.noteUses(new Map([[scene.acting.id, START_MS + 1]]));
      await change(scene, { keys: [scene.acting, scene.target], organizations: [scene.other, scene.acme] });
    });

    test(`${name}: ${what} leaves no trace if a record of its conditions has changed`, async (t) => {
      const store = await open(t);
      // Conditions are checked in one place: one change meets all disturbances, the others one of each kind.
      const disturbing = Object.entries(disturbances).filter(([event]) => what === 'a change' || usual.has(event));
      for (const [event, disturb] of disturbing) {
        const scene = { ...(await set(store)), store };
        const [acme, other] = await Promise.all(['org_acme', 'org_other'].map((id) => store.organizations.get(id)));
        const conditions = { keys: [scene.target, scene.acting], organizations: [acme, other] as Organization[] };
        await disturb(scene);
        const before = await stateOf(store);
        const expected = event.startsWith('the acting') ? 'keys' : 'organizations';
        await assert.rejects(async () => change(scene, conditions), failure(expected), event);
        assert.deepEqual(await stateOf(store), before, event);
        await store.organizations.resume('org_other', 'me');
        await store.organizations.change('org_other', { tier: 'standard', contacts: ['ö@example.com'] }, 'me');
      }
    });
  }

  test(`${name}: an organization has at most as many keys that work as the condition says, and as many records`, async (t) => {
    const { store, target } = await set(await open(t));
    const most = { working: 4, records: 7 };
    const tried = await Promise.allSettled(
      Array.from({ length: 6 }, async () => store.keys.create(issue().record, 'me', { most })),
    );
    assert.deepEqual(
      tried
        .map(({ status }) => status)
        .toSorted()
        .slice(0, 3),
      ['fulfilled', 'fulfilled', 'rejected'],
    );
    assert.equal((await store.keys.list({ organization: 'org_acme' })).length, 4);
    const rotate = async (id: string, endsAtMs: number) =>
      store.keys.rotate(id, issue().record, endsAtMs, 'me', { most });
    const before = await stateOf(store);
    await assert.rejects(rotate(target.id, ENDS_AT_MS), failure('most'));
    assert.deepEqual(await stateOf(store), before);
    assert.equal((await rotate(target.id, START_MS))?.expiresAtMs, START_MS);
    const [, , , last] = await store.keys.list({ organization: 'org_acme' });
    for (const _ of [6, 7]) {
      await store.keys.revoke((await store.keys.list({ organization: 'org_acme' })).at(-1)?.id ?? '', 'me', undefined);
      assert.equal(await store.keys.create(issue().record, 'me', { most }), true);
    }
    // Nothing works that was revoked, but its record is there.
    await store.keys.revoke(last?.id ?? '', 'me', undefined);
    await assert.rejects(async () => store.keys.create(issue().record, 'me', { most }), failure('most'));
    const alone = issue({ organization: 'org_other' }).record;
    assert.equal(await store.keys.create(alone, 'me', { most }), true);
    const rotateAlone = async (endsAtMs: number) =>
      store.keys.rotate(alone.id, issue({ organization: 'org_other' }).record, endsAtMs, 'me', {
        most: { ...most, working: 1 },
      });
    await assert.rejects(rotateAlone(ENDS_AT_MS), failure('most'));
    assert.equal((await rotateAlone(START_MS))?.expiresAtMs, START_MS);
  });

  test(`${name}: a condition on a record that is not there fails`, async (t) => {
    const { store, target } = await set(await open(t));
    const [{ record }] = [issue()];
    await assert.rejects(
      async () => store.keys.change(target.id, { name: 'x' }, 'me', { keys: [record] }),
      failure('keys'),
    );
    const gone = organization({ id: 'org_gone' });
    await assert.rejects(
      async () => store.keys.change(target.id, { name: 'x' }, 'me', { organizations: [gone] }),
      failure('organizations'),
    );
  });

  test(`${name}: the record itself is a condition like another`, async (t) => {
    const { store, target, acme } = await set(await open(t));
    await store.keys.change(target.id, { name: 'first' }, 'me', { keys: [target] });
    await assert.rejects(
      async () => store.keys.change(target.id, { name: 'second' }, 'me', { keys: [target] }),
      failure('keys'),
    );
    await assert.rejects(
      async () => store.keys.revoke(target.id, 'me', undefined, { keys: [target] }),
      failure('keys'),
    );
    await store.organizations.change('org_acme', { tier: 'premium' }, 'me', { organizations: [acme] });
    await assert.rejects(
      async () => store.organizations.change('org_acme', { tier: 'free' }, 'me', { organizations: [acme] }),
      failure('organizations'),
    );
    assert.equal((await store.keys.get(target.id))?.name, 'first');
    assert.equal((await store.organizations.get('org_acme'))?.tier, 'premium');
  });

  test(`${name}: of many changes under the same condition one wins, and without one all are made`, async (t) => {
    const { store, target } = await set(await open(t));
    const attempts = Array.from({ length: 8 }, (_, number) => `name ${number}`);
    const outcomes = await Promise.allSettled(
      attempts.map(async (text) => store.keys.change(target.id, { name: text }, 'me', { keys: [target] })),
    );
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    await Promise.all(attempts.map((text) => store.keys.change(target.id, { name: `${text}!` }, 'me')));
    const changed = (await store.audit.list({ limit: 100 })).filter(({ kind }) => kind === 'key.changed').reverse();
    assert.equal(changed.length, 9);
    // Each begins where the one before has ended.
    let present: unknown = { name: target.name };
    for (const { details } of changed) {
      assert.deepEqual(details.before, present);
      present = details.after;
    }
    assert.deepEqual(present, { name: (await store.keys.get(target.id))?.name });
  });

  test(`${name}: a rotation and a revocation at once leave no key that works against the audit log`, async (t) => {
    const { store } = await set(await open(t));
    for (let round = 0; round < 20; round += 1) {
      const { record: key } = issue();
      await store.keys.create(key);
      const { record: successor } = issue();
      const [rotated] = await Promise.all([
        store.keys.rotate(key.id, successor, ENDS_AT_MS),
        store.keys.revoke(key.id, 'me', undefined),
      ]);
      assert.equal((await store.keys.get(successor.id))?.id, rotated && successor.id);
      assert.ok((await store.keys.get(key.id))?.revokedAtMs);
      const kinds = (await store.audit.list({ limit: 3 })).filter(({ key: id }) => id === key.id);
      assert.deepEqual(
        kinds.map(({ kind }) => kind),
        ['key.revoked', ...(rotated ? ['key.rotated'] : []), 'key.created'],
      );
    }
  });

  const leavesAnother = { leavesAnother: true };
  const lasts: Record<string, readonly [others: readonly Parameters<typeof issue>[0][], refused: boolean]> = {
    'no other key': [[], true],
    'another live key': [[{}], false],
    'a live key that ends later': [[{ expiresAtMs: START_MS + 1 }], false],
    'an expired key': [[{ expiresAtMs: START_MS }], true],
    'a test key': [[{ mode: 'test' }], true],
    'a test key with a name like a live one': [[{ mode: 'test', name: '"mode":"live"' }], true],
    'a key of another organization': [[{ organization: 'org_other' }], true],
  };
  for (const [what, [others, refused]] of Object.entries(lasts)) {
    test(`${name}: with ${what} beside it a live key is ${refused ? '' : 'not '}the last`, async (t) => {
      const store = await open(t);
      for (const id of ['org_acme', 'org_other']) await store.organizations.create(organization({ id }), 'me');
      const { record: key } = issue();
      for (const record of [...others.map((each) => issue(each).record), key]) await store.keys.create(record);
      const revoke = async () => store.keys.revoke(key.id, 'me', undefined, leavesAnother);
      const before = await stateOf(store);
      if (refused) await assert.rejects(revoke, failure('leavesAnother'));
      else await revoke();
      if (refused) assert.deepEqual(await stateOf(store), before);
      assert.equal((await store.keys.get(key.id))?.revokedAtMs, refused ? undefined : START_MS);
      if (refused) assert.ok((await store.keys.revoke(key.id, 'me', undefined))?.revokedAtMs, 'without the condition');
    });
  }

  test(`${name}: a test key is the last only if there is no key at all, and a dead key never`, async (t) => {
    const store = await open(t);
    await store.organizations.create(organization(), 'me');
    const [test_, live, expired, revoked] = [
      issue({ mode: 'test' }).record,
      issue().record,
      issue({ expiresAtMs: START_MS }).record,
      issue().record,
    ];
    for (const key of [test_, live, expired, revoked]) await store.keys.create(key);
    await store.keys.revoke(revoked.id, 'me', undefined);
    for (const { id } of [test_, expired, revoked])
      assert.ok((await store.keys.revoke(id, 'me', undefined, leavesAnother))?.revokedAtMs);
    await assert.rejects(async () => store.keys.revoke(live.id, 'me', undefined, leavesAnother));
    await store.keys.revoke(live.id, 'me', undefined);
    const { record: last } = issue({ mode: 'test' });
    await store.keys.create(last);
    await assert.rejects(async () => store.keys.revoke(last.id, 'me', undefined, leavesAnother));
  });

  test(`${name}: of the last keys at once one stays, however many died before`, async (t) => {
    const store = await open(t);
    await store.organizations.create(organization(), 'me');
    const dead = Array.from({ length: 450 }, () => issue({ expiresAtMs: START_MS }).record);
    const keys = Array.from({ length: 4 }, () => issue().record);
    await store.seed([], [...dead.slice(0, 220), ...keys, ...dead.slice(220)], 'me');
    const outcomes = await Promise.allSettled(
      keys.map(async ({ id }) => store.keys.revoke(id, 'me', undefined, leavesAnother)),
    );
    assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1);
    const working = (await store.keys.list()).filter(
      ({ revokedAtMs, expiresAtMs }) => revokedAtMs === undefined && expiresAtMs === undefined,
    );
    assert.equal(working.length, 1);
  });
}
