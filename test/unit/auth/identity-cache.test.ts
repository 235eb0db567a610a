import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdentityCache } from '../../../gateway/auth/identity-cache.ts';
import type { ChangeKind, KeyStoreChange } from '../../../gateway/auth/store/key-store.ts';
import { issue, makeKey, organization } from './samples.ts';

/** Two organizations with a key each, and a key without an organization. */
function filled() {
  const memory = new IdentityCache({ positiveMax: 10, negativeMax: 10 });
  const [mine, other, absent] = [issue(), issue({ organization: 'org_other' }), makeKey()];
  const { hashOf } = memory;
  memory.learnKey(hashOf(mine.key), { key: mine.record, organization: organization() }, true);
  memory.learnKey(hashOf(other.key), { key: other.record, organization: organization({ id: 'org_other' }) }, true);
  memory.learnKey(hashOf(absent), undefined, true);
  for (const id of ['org_acme', 'org_other']) memory.learnOrganization(id, organization({ id }), true);
  const left = () => ({
    key: memory.caller(hashOf(mine.key)) !== undefined,
    organization: memory.organization('org_acme') !== undefined,
    absence: memory.isAbsent(hashOf(absent)),
    others: memory.caller(hashOf(other.key)) !== undefined && memory.organization('org_other') !== undefined,
  });
  return { memory, left, key: mine.record.id };
}

const everything = { key: true, organization: true, absence: true, others: true };
const nothing = { key: false, organization: false, absence: false, others: false };
const withoutOrganization = { ...everything, key: false, organization: false };
const leaves: Record<ChangeKind, object> = {
  'organization.created': everything,
  'organization.changed': withoutOrganization,
  'organization.tier_changed': withoutOrganization,
  'organization.suspended': withoutOrganization,
  'organization.resumed': withoutOrganization,
  'organizations.seeded': nothing,
  'records.imported': nothing,
  'key.created': { ...everything, absence: false },
  'key.changed': { ...everything, key: false },
  'key.rotated': { ...everything, key: false, absence: false },
  'key.revoked': { ...everything, key: false },
  'configuration.changed': everything,
  'limits.reset': everything,
  'upstream.retried': everything,
  'alerts.silenced': everything,
  'session.ended': everything,
};
for (const [kind, expected] of Object.entries(leaves)) {
  test(`${kind} drops its own entries and no others`, () => {
    const { memory, left, key } = filled();
    assert.deepEqual(left(), everything);
    const about = kind.startsWith('key.') ? { key } : { key: undefined };
    const change = { sequence: 1, atMs: 0, by: 'tests', kind, organization: 'org_acme', ...about, details: {} };
    memory.forget(change as KeyStoreChange);
    assert.deepEqual(left(), expected);
  });
}

test('an answer that must not be kept is returned and not remembered', () => {
  const memory = new IdentityCache({ positiveMax: 10, negativeMax: 10 });
  const { key, record } = issue();
  const found = { key: record, organization: organization() };
  assert.equal(memory.learnKey(memory.hashOf(key), found, false)?.caller.subject, record.id);
  assert.equal(memory.learnKey(memory.hashOf(makeKey()), undefined, false), undefined);
  assert.deepEqual(memory.learnOrganization('org_acme', organization(), false), organization());
  assert.deepEqual(memory.sizes(), { callers: 0, absences: 0, organizations: 0 });
});

test('no part grows beyond its bound, and unknown organizations take no room', () => {
  const memory = new IdentityCache({ positiveMax: 3, negativeMax: 2 });
  for (let index = 0; index < 50; index += 1) {
    const id = `org_${index}`;
    const { key, record } = issue({ organization: id });
    memory.learnKey(memory.hashOf(key), { key: record, organization: organization({ id }) }, true);
    memory.learnKey(memory.hashOf(makeKey()), undefined, true);
    memory.learnOrganization(id, organization({ id }), true);
    memory.learnOrganization(`${id}_absent`, undefined, true);
  }
  assert.deepEqual(memory.sizes(), { callers: 3, absences: 2, organizations: 3 });
});

function remembered(memory: IdentityCache, ownerId: string) {
  const { key, record } = issue({ organization: ownerId });
  const keyHash = memory.hashOf(key);
  const learn = () => memory.learnKey(keyHash, { key: record, organization: organization({ id: ownerId }) }, true);
  learn();
  return { keyHash, learn };
}

const suspended = (id: string): KeyStoreChange => ({
  ...{ sequence: 1, atMs: 0, by: 'tests', kind: 'organization.suspended', key: undefined, details: {} },
  organization: id,
});

test('absences never push out callers', () => {
  const memory = new IdentityCache({ positiveMax: 2, negativeMax: 2 });
  const { keyHash } = remembered(memory, 'org_a');
  for (let index = 0; index < 100; index += 1) memory.learnKey(memory.hashOf(makeKey()), undefined, true);
  assert.ok(memory.caller(keyHash));
});

test('a change of an organization drops all its keys and no others', () => {
  const memory = new IdentityCache({ positiveMax: 10, negativeMax: 10 });
  const mine = [remembered(memory, 'org_a'), remembered(memory, 'org_a')];
  const other = remembered(memory, 'org_b');
  memory.forget(suspended('org_a'));
  assert.deepEqual(
    mine.map(({ keyHash }) => memory.caller(keyHash)),
    [undefined, undefined],
  );
  assert.ok(memory.caller(other.keyHash));
});

test('an evicted entry can be remembered and dropped again', () => {
  const memory = new IdentityCache({ positiveMax: 1, negativeMax: 1 });
  const first = remembered(memory, 'org_a');
  remembered(memory, 'org_a');
  first.learn();
  memory.forget(suspended('org_a'));
  assert.deepEqual(memory.sizes(), { callers: 0, absences: 0, organizations: 0 });
});

test('hashes of one process mean nothing to another', () => {
  const options = { positiveMax: 1, negativeMax: 1 };
  const key = makeKey();
  assert.notEqual(new IdentityCache(options).hashOf(key), new IdentityCache(options).hashOf(key));
});
