// What every key store must do, whatever it is built on. A store's own test file calls this with a way to open one.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { KeyStore } from '../../../gateway/auth/store.ts';
import { issue, organization, START_MS } from '../../unit/auth/samples.ts';

type Open = (test: TestContext) => KeyStore;

export function keyStoreSuite(name: string, open: Open): void {
  organizationTests(name, open);
  keyTests(name, open);
  auditTests(name, open);
}

function organizationTests(name: string, open: Open): void {
  test(`${name}: an organization comes back as it was created, and its id is taken`, async (t) => {
    const store = open(t);
    const acme = organization({ contacts: ['ops@example.com'], operator: true });
    assert.equal(await store.organizations.create(acme, 'me'), true);
    assert.equal(await store.organizations.create(acme, 'me'), false);
    assert.deepEqual(await store.organizations.get(acme.id), acme);
    assert.deepEqual(await store.organizations.list(), [acme]);
    assert.equal(await store.organizations.get('org_nobody'), undefined);
  });

  test(`${name}: tier and state change, and a change that changes nothing leaves no trace`, async (t) => {
    const { organizations, audit } = open(t);
    await organizations.create(organization(), 'me');
    assert.equal((await organizations.setTier('org_acme', 'premium', 'me'))?.tier, 'premium');
    assert.equal((await organizations.setTier('org_acme', 'premium', 'me'))?.tier, 'premium');
    assert.equal((await organizations.suspend('org_acme', 'me'))?.state, 'suspended');
    assert.equal((await organizations.resume('org_acme', 'me'))?.state, 'active');
    assert.equal((await organizations.resume('org_acme', 'me'))?.state, 'active');
    assert.equal(await organizations.suspend('org_nobody', 'me'), undefined);
    assert.deepEqual(await organizations.get('org_acme'), organization({ tier: 'premium' }));
    const { changes } = await audit.since(0, 100);
    assert.deepEqual(
      changes.map(({ kind, details }) => [kind, details]),
      [
        ['organization.created', { name: 'Acme', tier: 'standard', operator: false }],
        ['organization.tier_changed', { from: 'standard', to: 'premium' }],
        ['organization.suspended', {}],
        ['organization.resumed', {}],
      ],
    );
  });
}

function keyTests(name: string, open: Open): void {
  test(`${name}: a key is found by its digest, with its organization as it is now`, async (t) => {
    const { organizations, keys } = open(t);
    await organizations.create(organization(), 'me');
    const { record } = issue({ scopes: ['jobs:read'], allowedCidrs: ['192.0.2.0/24'], expiresAtMs: START_MS + 1000 });
    assert.equal(await keys.create(record), true);
    await organizations.setTier('org_acme', 'premium', 'me');
    const owner = organization({ tier: 'premium' });
    assert.deepEqual(await keys.findByDigest(record.digest), { key: record, organization: owner });
    assert.deepEqual(await keys.get(record.id), record);
    assert.equal(await keys.findByDigest('another digest'), undefined);
    assert.equal(await keys.get('key_nobody'), undefined);
  });

  test(`${name}: a key needs an organization`, async (t) => {
    const { keys, audit } = open(t);
    assert.equal(await keys.create(issue().record), false);
    assert.deepEqual(await audit.since(0, 10), { latest: 0, changes: [] });
  });

  test(`${name}: keys are listed in the order they were made, of all or of one organization`, async (t) => {
    const { organizations, keys } = open(t);
    const made = [];
    for (const id of ['org_b', 'org_a', 'org_b']) {
      await organizations.create(organization({ id }), 'me');
      const { record } = issue({ organization: id });
      await keys.create(record);
      made.push(record);
    }
    assert.deepEqual(await keys.list(), made);
    assert.deepEqual(await keys.list({ organization: 'org_b' }), [made[0], made[2]]);
    assert.deepEqual(await keys.list({ organization: 'org_nobody' }), []);
  });

  test(`${name}: a revocation stays as it was first made`, async (t) => {
    const { organizations, keys, audit } = open(t);
    await organizations.create(organization(), 'me');
    const { record } = issue();
    await keys.create(record);
    const revoked = { ...record, revokedAtMs: START_MS, revokedBy: 'me', revokedReason: 'leaked' };
    assert.deepEqual(await keys.revoke(record.id, 'me', 'leaked'), revoked);
    assert.deepEqual(await keys.revoke(record.id, 'you', 'again'), revoked);
    assert.equal(await keys.revoke('key_nobody', 'me', undefined), undefined);
    assert.deepEqual(await keys.get(record.id), revoked);
    const [newest] = await audit.list({ limit: 1 });
    assert.deepEqual([newest?.by, newest?.key, newest?.details], ['me', record.id, { reason: 'leaked' }]);
  });

  test(`${name}: the last use only moves forward, and is no change`, async (t) => {
    const { organizations, keys, audit } = open(t);
    await organizations.create(organization(), 'me');
    const { record } = issue();
    await keys.create(record);
    const { latest } = await audit.since(0, 10);
    await keys.noteUses(
      new Map([
        [record.id, START_MS + 5000],
        ['key_nobody', 1],
      ]),
    );
    await keys.noteUses(new Map([[record.id, START_MS + 1000]]));
    assert.equal((await keys.get(record.id))?.lastUsedAtMs, START_MS + 5000);
    assert.equal((await audit.since(0, 10)).latest, latest);
  });
}

function auditTests(name: string, open: Open): void {
  test(`${name}: the change stream has every change once, in order, page by page`, async (t) => {
    const { organizations, audit } = open(t);
    for (let index = 0; index < 5; index += 1) await organizations.create(organization({ id: `org_${index}` }), 'me');
    const first = await audit.since(0, 3);
    const position = first.changes.at(-1)?.sequence ?? 0;
    const rest = await audit.since(position, 3);
    const seen = [...first.changes, ...rest.changes].map(({ organization: id }) => id);
    assert.deepEqual(seen, ['org_0', 'org_1', 'org_2', 'org_3', 'org_4']);
    assert.equal(first.latest, rest.latest);
    assert.deepEqual(await audit.since(first.latest, 3), { latest: first.latest, changes: [] });
  });

  test(`${name}: the audit log says who, what and when, newest first, and can be narrowed`, async (t) => {
    const { organizations, keys, audit } = open(t);
    await organizations.create(organization({ id: 'org_a' }), 'anna');
    await organizations.create(organization({ id: 'org_b' }), 'bert');
    const { record } = issue({ organization: 'org_a', by: 'carl' });
    await keys.create(record);
    await audit.append('dora', { file: 'limits.yaml' });
    const all = await audit.list({ limit: 10 });
    assert.deepEqual(
      all.map(({ by, kind }) => `${by} ${kind}`),
      ['dora configuration.changed', 'carl key.created', 'bert organization.created', 'anna organization.created'],
    );
    assert.ok(all.every(({ atMs }) => atMs === START_MS));
    const ofOne = await audit.list({ organization: 'org_a', limit: 10 });
    assert.deepEqual(
      ofOne.map(({ by }) => by),
      ['carl', 'anna'],
    );
    assert.equal((await audit.list({ limit: 2 })).length, 2);
    assert.equal((await audit.list({ sinceMs: START_MS + 1, limit: 10 })).length, 0);
  });

  test(`${name}: seeding is one change, all or nothing`, async (t) => {
    const { organizations, keys, audit, seed } = open(t);
    const many = Array.from({ length: 50 }, (_, index) => organization({ id: `org_${index}` }));
    const issued = many.map(({ id }) => issue({ organization: id }).record);
    await seed(many, issued, 'me');
    assert.equal((await organizations.list()).length, 50);
    assert.equal((await keys.list()).length, 50);
    const { changes } = await audit.since(0, 100);
    assert.deepEqual(
      changes.map(({ kind, details }) => [kind, details]),
      [['organizations.seeded', { organizations: 50, keys: 50 }]],
    );
    await assert.rejects(async () => seed([organization({ id: 'org_new' }), organization({ id: 'org_7' })], [], 'me'));
    assert.equal(await organizations.get('org_new'), undefined);
    assert.equal((await audit.since(0, 100)).changes.length, 1);
  });
}
