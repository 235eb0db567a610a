// The part of the suite about importing an export: existing records stay unchanged.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredKey } from '../../../gateway/auth/store/stored-key.ts';
import { issue, organization, START_MS } from '../../unit/auth/samples.ts';
import type { Open } from './key-store-suite-open.ts';

const acme = organization({ contacts: ['ops@example.com'], operator: true });

function key(overrides: Partial<StoredKey> = {}): StoredKey {
  return { ...issue({ scopes: ['jobs:read'] }).record, ...overrides };
}

export function importTests(name: string, open: Open): void {
  test(`${name}: imported records come back as they were exported`, async (t) => {
    const store = await open(t);
    const suspended = organization({ id: 'org_b', state: 'suspended' });
    const revoked = { revokedAtMs: START_MS - 5, revokedBy: 'me', revokedReason: 'leaked' };
    const keys = [
      key(),
      key({ expiresAtMs: START_MS - 1, lastUsedAtMs: START_MS - 2, replacedBy: 'key_elsewhere', createdAtMs: 1 }),
      key({ organization: 'org_b', ...revoked }),
    ];
    assert.deepEqual(await store.import([acme, suspended], keys, 'me'), { organizations: 2, keys: 3 });
    assert.deepEqual(await store.organizations.get('org_acme'), acme);
    assert.deepEqual(await store.organizations.get('org_b'), suspended);
    for (const each of keys) assert.deepEqual((await store.keys.findByDigest(each.digest))?.key, each);
    assert.deepEqual((await store.keys.list({ organization: 'org_b' })).length, 1);
  });

  test(`${name}: an import is one change that counts the new records`, async (t) => {
    const store = await open(t);
    await store.organizations.create(acme, 'me');
    const { latest } = await store.audit.since(0, 10);
    const imported = await store.import([acme, organization({ id: 'org_b' })], [key(), key()], 'imp');
    assert.deepEqual(imported, { organizations: 1, keys: 2 });
    const { changes } = await store.audit.since(latest, 10);
    assert.deepEqual(
      changes.map(({ by, kind, details }) => [by, kind, details]),
      [['imp', 'records.imported', { organizations: 1, keys: 2 }]],
    );
  });

  test(`${name}: a second import changes nothing, revives nothing and leaves no trace`, async (t) => {
    const store = await open(t);
    const [first, second, third] = [key(), key(), key()];
    await store.import([acme], [first, second], 'me');
    await store.keys.revoke(first.id, 'me', 'leaked');
    await store.keys.rotate(second.id, third, START_MS + 1000);
    await store.keys.noteUses(new Map([[second.id, START_MS]]));
    await store.organizations.change('org_acme', { tier: 'premium' }, 'me');
    await store.organizations.suspend('org_acme', 'me');
    const before = [await store.keys.list(), await store.organizations.list(), await store.audit.since(0, 100)];
    assert.deepEqual(await store.import([acme], [first, second], 'me'), { organizations: 0, keys: 0 });
    assert.deepEqual(await store.import([], [], 'me'), { organizations: 0, keys: 0 });
    const after = [await store.keys.list(), await store.organizations.list(), await store.audit.since(0, 100)];
    assert.deepEqual(after, before);
  });

  test(`${name}: a key is skipped if its id or digest is taken, also within one import`, async (t) => {
    const store = await open(t);
    const [there, fresh] = [key(), key()];
    await store.import([acme], [there], 'me');
    const sameId = key({ id: there.id });
    const sameDigest = key({ digest: there.digest });
    const twice = key({ digest: fresh.digest });
    const imported = await store.import([acme, acme], [sameId, sameDigest, fresh, fresh, twice], 'me');
    assert.deepEqual(imported, { organizations: 0, keys: 1 });
    assert.deepEqual(await store.keys.list(), [there, fresh]);
    assert.equal(await store.keys.findByDigest(sameId.digest), undefined);
    assert.equal(await store.keys.get(sameDigest.id), undefined);
    assert.deepEqual((await store.keys.findByDigest(fresh.digest))?.key, fresh);
  });

  test(`${name}: a key without its organization stops an import, and nothing of it is written`, async (t) => {
    const store = await open(t);
    await store.organizations.create(acme, 'me');
    const before = await store.audit.since(0, 10);
    const keys = [key(), key({ organization: 'org_b' }), key({ organization: 'org_nobody' })];
    await assert.rejects(async () => store.import([organization({ id: 'org_b' })], keys, 'me'), /org_nobody/);
    assert.equal(await store.organizations.get('org_b'), undefined);
    assert.deepEqual(await store.keys.list(), []);
    assert.deepEqual(await store.audit.since(0, 10), before);
  });

  test(`${name}: two imports at once count every record once`, async (t) => {
    const store = await open(t);
    const organizations = Array.from({ length: 500 }, (_, index) => organization({ id: `org_${index}` }));
    const keys = organizations.map(({ id }) => key({ organization: id }));
    const both = await Promise.all([
      store.import(organizations, keys, 'me'),
      store.import(organizations.toReversed(), keys.toReversed(), 'me'),
    ]);
    assert.equal(both[0].organizations + both[1].organizations, 500);
    assert.equal(both[0].keys + both[1].keys, 500);
    assert.equal((await store.keys.list()).length, 500);
  });
}
