// Requirements on every key store, on any base. The test file of a store calls this with a way to open an empty store, whose clock stands
// at START_MS.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issue, organization, pepperFingerprint, START_MS } from '../../unit/auth/samples.ts';
import { changeTests } from './key-store-suite-changes.ts';
import { conditionTests } from './key-store-suite-conditions.ts';
import { importTests } from './key-store-suite-import.ts';
import { instanceTests } from './key-store-suite-instances.ts';
import { keyTests } from './key-store-suite-keys.ts';
import type { Open } from './key-store-suite-open.ts';
import { rotationTests } from './key-store-suite-rotation.ts';
import { scanTests } from './key-store-suite-scan.ts';

/** `after` of its creation. */
const ACME = { name: 'Acme', tier: 'standard', state: 'active', contacts: [], operator: false };

export function keyStoreSuite(name: string, open: Open): void {
  organizationTests(name, open);
  keyTests(name, open);
  rotationTests(name, open);
  changeTests(name, open);
  conditionTests(name, open);
  scanTests(name, open);
  auditTests(name, open);
  seedTests(name, open);
  importTests(name, open);
  instanceTests(name, open);
  storeTests(name, open);
}

function organizationTests(name: string, open: Open): void {
  test(`${name}: an organization comes back as it was created, and its id is taken`, async (t) => {
    const { organizations, audit } = await open(t);
    const acme = organization({ contacts: ['ops@example.com'], operator: true });
    assert.equal(await organizations.create(acme, 'me'), true);
    assert.equal(await organizations.create({ ...acme, name: 'Another' }, 'me'), false);
    assert.deepEqual(await organizations.get(acme.id), acme);
    assert.deepEqual(await organizations.list(), [acme]);
    assert.equal(await organizations.get('org_nobody'), undefined);
    assert.equal((await audit.since(0, 10)).changes.length, 1);
  });

  test(`${name}: tier and state change, and a change that changes nothing leaves no trace`, async (t) => {
    const { organizations, audit } = await open(t);
    await organizations.create(organization(), 'me');
    assert.equal((await organizations.change('org_acme', { tier: 'premium' }, 'me'))?.tier, 'premium');
    assert.equal((await organizations.change('org_acme', { tier: 'premium' }, 'me'))?.tier, 'premium');
    assert.equal((await organizations.suspend('org_acme', 'me'))?.state, 'suspended');
    assert.equal((await organizations.suspend('org_acme', 'me'))?.state, 'suspended');
    assert.equal((await organizations.resume('org_acme', 'me'))?.state, 'active');
    assert.equal((await organizations.resume('org_acme', 'me'))?.state, 'active');
    assert.deepEqual(await organizations.get('org_acme'), organization({ tier: 'premium' }));
    const { changes } = await audit.since(0, 100);
    assert.deepEqual(
      changes.map(({ kind, details }) => [kind, details]),
      [
        ['organization.created', { name: 'Acme', tier: 'standard', operator: false, after: ACME }],
        [
          'organization.tier_changed',
          { from: 'standard', to: 'premium', before: { tier: 'standard' }, after: { tier: 'premium' } },
        ],
        ['organization.suspended', { before: { state: 'active' }, after: { state: 'suspended' } }],
        ['organization.resumed', { before: { state: 'suspended' }, after: { state: 'active' } }],
      ],
    );
  });

  test(`${name}: an organization that does not exist cannot change`, async (t) => {
    const { organizations, audit } = await open(t);
    assert.equal(await organizations.change('org_nobody', { tier: 'premium' }, 'me'), undefined);
    assert.equal(await organizations.suspend('org_nobody', 'me'), undefined);
    assert.equal(await organizations.resume('org_nobody', 'me'), undefined);
    assert.deepEqual(await organizations.list(), []);
    assert.deepEqual(await audit.since(0, 10), { latest: 0, changes: [] });
  });
}

function auditTests(name: string, open: Open): void {
  test(`${name}: the change stream has every change once, in order, page by page`, async (t) => {
    const { organizations, audit } = await open(t);
    for (let index = 0; index < 5; index += 1) await organizations.create(organization({ id: `org_${index}` }), 'me');
    const first = await audit.since(0, 3);
    const position = first.changes.at(-1)?.sequence ?? 0;
    const rest = await audit.since(position, 3);
    const seen = [...first.changes, ...rest.changes].map(({ organization: id }) => id);
    assert.deepEqual(seen, ['org_0', 'org_1', 'org_2', 'org_3', 'org_4']);
    assert.equal(first.latest, rest.latest);
    assert.deepEqual(await audit.since(first.latest, 3), { latest: first.latest, changes: [] });
    assert.deepEqual(await audit.since(Number.MAX_SAFE_INTEGER, 3), { latest: first.latest, changes: [] });
  });

  test(`${name}: the audit log records actor, action and time, newest first, and can be filtered`, async (t) => {
    const { organizations, keys, audit } = await open(t);
    await organizations.create(organization({ id: 'org_a' }), 'anna');
    await organizations.create(organization({ id: 'org_b' }), 'bert');
    const { record } = issue({ organization: 'org_a', by: 'carl' });
    await keys.create(record);
    await audit.append('configuration.changed', 'dora', { file: 'limits.yaml' });
    const all = await audit.list({ limit: 10 });
    assert.deepEqual(
      all.map(({ by, kind }) => `${by} ${kind}`),
      ['dora configuration.changed', 'carl key.created', 'bert organization.created', 'anna organization.created'],
    );
    assert.deepEqual(all[0]?.details, { file: 'limits.yaml' });
    assert.ok(all.every(({ atMs }) => atMs === START_MS));
    const ofOne = await audit.list({ organization: 'org_a', limit: 10 });
    assert.deepEqual(
      ofOne.map(({ by, key }) => [by, key]),
      [
        ['carl', record.id],
        ['anna', undefined],
      ],
    );
    assert.deepEqual(await audit.list({ limit: 2 }), all.slice(0, 2));
    assert.deepEqual(await audit.list({ organization: 'org_a', limit: 1 }), ofOne.slice(0, 1));
    assert.equal((await audit.list({ sinceMs: START_MS, limit: 10 })).length, 4);
    assert.equal((await audit.list({ sinceMs: START_MS + 1, limit: 10 })).length, 0);
  });

  test(`${name}: a removed listener is not called`, async (t) => {
    const { organizations, audit } = await open(t);
    let calls = 0;
    const stop = audit.subscribe(() => {
      calls += 1;
    });
    stop();
    await organizations.create(organization(), 'me');
    await audit.since(0, 10);
    assert.equal(calls, 0);
  });
}

function seedTests(name: string, open: Open): void {
  test(`${name}: seeding is one change, all or nothing`, async (t) => {
    const { organizations, keys, audit, seed } = await open(t);
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

function storeTests(name: string, open: Open): void {
  test(`${name}: the store names the pepper it was made with`, async (t) => {
    assert.equal((await open(t)).pepperFingerprint, pepperFingerprint);
  });

  test(`${name}: a closed store rejects, it does not hang`, async (t) => {
    const store = await open(t);
    await store.close();
    await assert.rejects(async () => store.keys.findByDigest('a digest'));
    await assert.rejects(async () => store.organizations.create(organization(), 'me'));
    await assert.rejects(async () => store.audit.since(0, 10));
  });
}
