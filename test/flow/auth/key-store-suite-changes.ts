// The part of the suite about changes of keys and organizations: their members, and what the audit log says about each change.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import type { KeyPatch, StoredKey } from '../../../gateway/auth/store/stored-key.ts';
import { issue, organization, START_MS } from '../../unit/auth/samples.ts';
import type { Open } from './key-store-suite-open.ts';

const AUTHOR = { by: 'key_author', requestId: 'req_1' };
const ENDS_AT_MS = START_MS + 60_000;
const ENDS_AT = new Date(ENDS_AT_MS).toISOString();

async function withKey(store: KeyStore, more: Parameters<typeof issue>[0] = {}): Promise<StoredKey> {
  await store.organizations.create(organization(), 'me');
  const { record } = issue({ name: 'before', ...more });
  await store.keys.create(record);
  return record;
}

async function newest({ audit }: KeyStore) {
  const [change] = await audit.list({ limit: 1 });
  assert.ok(change);
  const { sequence: _, atMs: __, ...rest } = change;
  return rest;
}

export function changeTests(name: string, open: Open): void {
  const patches: Record<string, readonly [KeyPatch, before: object, after: object]> = {
    'its name': [{ name: 'ü "\\\n 🗝' }, { name: 'before' }, { name: 'ü "\\\n 🗝' }],
    'its scopes': [{ scopes: ['jobs:read', '*'] }, { scopes: ['*'] }, { scopes: ['jobs:read', '*'] }],
    'no scope': [{ scopes: [] }, { scopes: ['*'] }, { scopes: [] }],
    'its addresses': [{ allowedCidrs: ['2001:db8::/32'] }, { allowed_cidrs: [] }, { allowed_cidrs: ['2001:db8::/32'] }],
    'its end': [{ expiresAtMs: ENDS_AT_MS }, { expires_at: null }, { expires_at: ENDS_AT }],
    'several members': [
      { name: 'after', expiresAtMs: ENDS_AT_MS },
      { name: 'before', expires_at: null },
      { name: 'after', expires_at: ENDS_AT },
    ],
  };
  for (const [what, [patch, before, after]] of Object.entries(patches)) {
    test(`${name}: a key gets ${what}, as one change with what was before and after`, async (t) => {
      const store = await open(t);
      const key = await withKey(store);
      const changed = { ...key, ...patch };
      assert.deepEqual(await store.keys.change(key.id, patch, AUTHOR), changed);
      assert.deepEqual(await store.keys.get(key.id), changed);
      assert.deepEqual(await store.keys.list(), [changed]);
      assert.deepEqual((await store.keys.findByDigest(key.digest))?.key, changed);
      assert.deepEqual(await newest(store), {
        by: 'key_author',
        kind: 'key.changed',
        organization: 'org_acme',
        key: key.id,
        details: { before, after, request_id: 'req_1' },
      });
    });
  }

  test(`${name}: a key loses its end`, async (t) => {
    const store = await open(t);
    const key = await withKey(store, { expiresAtMs: ENDS_AT_MS });
    assert.deepEqual(await store.keys.change(key.id, { expiresAtMs: undefined }, 'me'), {
      ...key,
      expiresAtMs: undefined,
    });
    assert.equal((await store.keys.get(key.id))?.expiresAtMs, undefined);
    assert.deepEqual((await newest(store)).details, { before: { expires_at: ENDS_AT }, after: { expires_at: null } });
  });

  test(`${name}: a change that changes nothing, or an unknown record, leaves no trace`, async (t) => {
    const store = await open(t);
    const key = await withKey(store);
    const { latest } = await store.audit.since(0, 10);
    assert.deepEqual(await store.keys.change(key.id, { name: 'before', scopes: ['*'] }, AUTHOR), key);
    assert.deepEqual(await store.keys.change(key.id, {}, AUTHOR), key);
    assert.equal(await store.keys.change('key_nobody', { name: 'after' }, AUTHOR), undefined);
    assert.deepEqual(await store.organizations.change('org_acme', { contacts: [] }, AUTHOR), organization());
    assert.equal(await store.organizations.change('org_nobody', { tier: 'premium' }, AUTHOR), undefined);
    assert.equal((await store.audit.since(0, 10)).latest, latest);
  });

  test(`${name}: a change keeps what belongs to other changes: successor, revocation and last use`, async (t) => {
    const store = await open(t);
    const key = await withKey(store);
    const { record: successor } = issue();
    await store.keys.rotate(key.id, successor, ENDS_AT_MS);
    await store.keys.noteUses(new Map([[key.id, START_MS]]));
    await store.keys.revoke(key.id, 'me', 'leaked');
    const before = await store.keys.get(key.id);
    assert.deepEqual(await store.keys.change(key.id, { name: 'after' }, 'me'), { ...before, name: 'after' });
    assert.deepEqual(await store.keys.get(key.id), { ...before, name: 'after' });
  });

  test(`${name}: an organization gets contacts, and a tier with them`, async (t) => {
    const store = await open(t);
    await store.organizations.create(organization({ operator: true, name: 'Å' }), 'me');
    const contacts = ['ops@example.com'];
    const changed = organization({ operator: true, name: 'Å', contacts });
    assert.deepEqual(await store.organizations.change('org_acme', { contacts }, AUTHOR), changed);
    assert.deepEqual(await store.organizations.get('org_acme'), changed);
    assert.deepEqual(await newest(store), {
      by: 'key_author',
      kind: 'organization.changed',
      organization: 'org_acme',
      key: undefined,
      details: { before: { contacts: [] }, after: { contacts }, request_id: 'req_1' },
    });
    await store.organizations.suspend('org_acme', 'me');
    const both = await store.organizations.change('org_acme', { tier: 'premium', contacts: [] }, 'me');
    assert.deepEqual(both, { ...changed, tier: 'premium', contacts: [], state: 'suspended' });
    assert.deepEqual(await store.organizations.get('org_acme'), both);
    assert.deepEqual((await newest(store)).details, {
      from: 'standard',
      to: 'premium',
      before: { tier: 'standard', contacts },
      after: { tier: 'premium', contacts: [] },
    });
  });

  test(`${name}: every kind of change names its request, and a creation what was made`, async (t) => {
    const store = await open(t);
    await store.organizations.create(organization(), AUTHOR);
    const { record } = issue({ name: 'new', allowedCidrs: ['192.0.2.1'], expiresAtMs: ENDS_AT_MS });
    await store.keys.create(record, AUTHOR);
    const after = {
      ...{ mode: 'live', name: 'new', scopes: ['*'], allowed_cidrs: ['192.0.2.1'], expires_at: ENDS_AT },
    };
    assert.deepEqual((await newest(store)).details, {
      ...{ mode: 'live', name: 'new', scopes: ['*'], expires_at: ENDS_AT_MS, after, request_id: 'req_1' },
    });
    await store.keys.rotate(record.id, issue().record, ENDS_AT_MS, AUTHOR);
    await store.keys.revoke(record.id, AUTHOR, undefined);
    await store.organizations.change('org_acme', { tier: 'premium' }, AUTHOR);
    await store.organizations.suspend('org_acme', AUTHOR);
    await store.organizations.resume('org_acme', AUTHOR);
    await store.audit.append('limits.reset', AUTHOR, { after: 0 }, 'org_acme');
    await store.audit.append('upstream.retried', AUTHOR, { upstream: 'mail' });
    await store.audit.append('alerts.silenced', AUTHOR, { causes: 'redis' });
    const changes = await store.audit.list({ limit: 10 });
    assert.equal(changes.length, 10);
    assert.deepEqual(
      changes.slice(0, 3).map(({ kind, organization: of, details }) => [kind, of, details]),
      [
        ['alerts.silenced', undefined, { causes: 'redis', request_id: 'req_1' }],
        ['upstream.retried', undefined, { upstream: 'mail', request_id: 'req_1' }],
        ['limits.reset', 'org_acme', { after: 0, request_id: 'req_1' }],
      ],
    );
    for (const { kind, by, details } of changes)
      assert.deepEqual([by, details.request_id], ['key_author', 'req_1'], kind);
  });

  test(`${name}: an expired key was expired before its revocation`, async (t) => {
    const store = await open(t);
    const { id } = await withKey(store, { expiresAtMs: START_MS });
    await store.keys.revoke(id, 'me', undefined);
    assert.deepEqual((await newest(store)).details, {
      reason: null,
      before: { state: 'expired' },
      after: { state: 'revoked' },
    });
  });

  test(`${name}: the audit log goes on before a sequence number`, async (t) => {
    const store = await open(t);
    for (const id of ['org_a', 'org_b', 'org_a2', 'org_b2']) {
      await store.organizations.create(organization({ id }), 'me');
      await store.organizations.suspend(id, 'me');
    }
    for (const filter of [{}, { organization: 'org_a' }]) {
      const all = await store.audit.list({ ...filter, limit: 100 });
      const parts = [];
      for (let before: number | undefined; ; before = parts.at(-1)?.sequence) {
        const part = await store.audit.list({ ...filter, before, limit: 1 });
        if (part.length === 0) break;
        parts.push(...part);
      }
      assert.deepEqual(parts, all);
      assert.ok(all.length >= 2);
    }
  });

  test(`${name}: organizations come by id, from any place`, async (t) => {
    const store = await open(t);
    for (const id of ['org_b', 'org_a', 'org_C', 'org_ab'])
      await store.organizations.create(organization({ id }), 'me');
    const idsOf = async (after?: string) => {
      const ids = [];
      for await (const page of store.organizations.inOrder(after)) ids.push(...page.map(({ id }) => id));
      return ids;
    };
    assert.deepEqual(await idsOf(), ['org_C', 'org_a', 'org_ab', 'org_b']);
    assert.deepEqual(await idsOf('org_a'), ['org_ab', 'org_b']);
    assert.deepEqual(await idsOf('org_aa'), ['org_ab', 'org_b']);
    assert.deepEqual(await idsOf('org_b'), []);
  });
}
