// The part of the suite about single keys: made, found, listed, revoked, used.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issue, organization, START_MS } from '../../unit/auth/samples.ts';
import type { Open } from './key-store-suite-open.ts';

const REVOKED = { before: { state: 'active' }, after: { state: 'revoked' } };

export function keyTests(name: string, open: Open): void {
  test(`${name}: a key is found by its digest, with its organization as it is now`, async (t) => {
    const { organizations, keys } = await open(t);
    await organizations.create(organization({ contacts: ['ops@example.com'] }), 'me');
    const { record } = issue({ scopes: ['jobs:read'], allowedCidrs: ['192.0.2.0/24'], expiresAtMs: START_MS + 1000 });
    assert.equal(await keys.create(record), true);
    await organizations.change('org_acme', { tier: 'premium' }, 'me');
    const owner = organization({ contacts: ['ops@example.com'], tier: 'premium' });
    assert.deepEqual(await keys.findByDigest(record.digest), { key: record, organization: owner });
    assert.deepEqual(await keys.get(record.id), record);
    assert.equal(await keys.findByDigest('another digest'), undefined);
    assert.equal(await keys.get('key_nobody'), undefined);
  });

  test(`${name}: lists that are empty stay lists, and any text survives`, async (t) => {
    const { organizations, keys } = await open(t);
    const odd = organization({ name: 'Å "B" \\ {}\n\u2028 🗝', contacts: [] });
    await organizations.create(odd, 'me');
    const { record } = issue({ name: '[] "quoted" ü', scopes: [], allowedCidrs: [] });
    await keys.create(record);
    await keys.revoke(record.id, 'mé', '"because"');
    const revoked = { ...record, revokedAtMs: START_MS, revokedBy: 'mé', revokedReason: '"because"' };
    assert.deepEqual(await keys.findByDigest(record.digest), { key: revoked, organization: odd });
  });

  test(`${name}: a key needs an organization`, async (t) => {
    const { keys, audit } = await open(t);
    const { record } = issue();
    assert.equal(await keys.create(record), false);
    assert.equal(await keys.get(record.id), undefined);
    assert.deepEqual(await audit.since(0, 10), { latest: 0, changes: [] });
  });

  test(`${name}: keys are listed in the order they were made, of all or of one organization`, async (t) => {
    const { organizations, keys } = await open(t);
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
    const { organizations, keys, audit } = await open(t);
    await organizations.create(organization(), 'me');
    const { record } = issue();
    await keys.create(record);
    const revoked = { ...record, revokedAtMs: START_MS, revokedBy: 'me', revokedReason: 'leaked' };
    assert.deepEqual(await keys.revoke(record.id, 'me', 'leaked'), revoked);
    assert.deepEqual(await keys.revoke(record.id, 'you', 'again'), revoked);
    assert.equal(await keys.revoke('key_nobody', 'me', undefined), undefined);
    assert.deepEqual(await keys.get(record.id), revoked);
    const [newest] = await audit.list({ limit: 1 });
    assert.deepEqual([newest?.by, newest?.key, newest?.details], ['me', record.id, { reason: 'leaked', ...REVOKED }]);
  });

  test(`${name}: a revocation needs no reason`, async (t) => {
    const { organizations, keys, audit } = await open(t);
    await organizations.create(organization(), 'me');
    const { record } = issue();
    await keys.create(record);
    await keys.revoke(record.id, 'me', undefined);
    assert.deepEqual(await keys.get(record.id), { ...record, revokedAtMs: START_MS, revokedBy: 'me' });
    assert.deepEqual((await audit.list({ limit: 1 }))[0]?.details, { reason: null, ...REVOKED });
  });

  test(`${name}: the last use only moves forward, and is no change`, async (t) => {
    const { organizations, keys, audit } = await open(t);
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
    assert.equal(await keys.get('key_nobody'), undefined);
    assert.equal((await audit.since(0, 10)).latest, latest);
  });
}
