// Who acts decides what a change may be: a token grants what it holds while it holds, and a command or an operator of the console anything.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import type { Actor } from '../../../gateway/administration/actor.ts';
import { createKey, rotateKey } from '../../../gateway/administration/keys.ts';
import { createOrganization } from '../../../gateway/administration/organizations.ts';
import { ConditionFailed } from '../../../gateway/auth/store/key-store.ts';
import type { Configuration } from '../../../gateway/configuration.ts';
import { digestOf, issue, openStore, organization, START_MS } from '../auth/samples.ts';

const configuration = {
  config: {
    gateway: { operatorScopes: [], keys: { perOrganizationMax: 10 } },
    limits: { tiers: { standard: {} } },
    upstreams: { gateway: { live: ['gateway:'] } },
  },
  contracts: { scopes: new Set(['jobs:read', 'jobs:write', 'gateway:keys']) },
} as unknown as Configuration;

async function scene() {
  const store = openStore();
  await store.organizations.create(organization(), 'test');
  const deps = { store, digestOf, randomBytes, now: () => START_MS, configuration: () => configuration };
  const scopes: ReadonlySet<string> = new Set(['jobs:read', 'gateway:keys']);
  const may = { scopes, allowedCidrs: [], expiresAtMs: START_MS + 60_000 };
  const token: Actor = { kind: 'token', by: 'shop:anna', requestId: 'req_1', organization: 'org_acme', may };
  const wanted = { organization: 'org_acme', mode: 'live', name: '', scopes: ['jobs:read'], allowedCidrs: [] } as const;
  return { store, deps, token, may, wanted };
}

it('a token makes keys that end when it does, with its name in the audit log', async () => {
  const { store, deps, token, wanted } = await scene();
  const end = { expiresAtMs: START_MS + 60_000 };
  const { record } = await createKey(deps, token, { ...wanted, ...end });
  assert.equal(record.createdBy, 'shop:anna');
  const [entry] = await store.audit.list({ limit: 1 });
  assert.deepEqual([entry?.by, entry?.details.request_id], ['shop:anna', 'req_1']);
  for (const more of [{ expiresAtMs: undefined }, { ...end, scopes: ['jobs:write'] }, { ...end, scopes: ['*'] }])
    await assert.rejects(createKey(deps, token, { ...wanted, ...more }), { code: 'grant_not_held' });
});

it('a token that has expired, or whose organization is suspended or gone, does nothing', async () => {
  const { store, deps, token, may, wanted } = await scene();
  const request = { ...wanted, expiresAtMs: START_MS + 1 };
  const expired = { ...token, may: { ...may, expiresAtMs: START_MS } };
  await assert.rejects(createKey(deps, expired, request), { code: 'token_expired' });
  await assert.rejects(createKey(deps, { ...token, organization: 'org_none' }, request), { code: 'account_inactive' });
  await store.organizations.suspend('org_acme', 'test');
  await assert.rejects(createKey(deps, token, request), { code: 'account_inactive' });
  assert.deepEqual(await store.keys.list(), []);
});

it('commands and operators of the console are bounded by no key', async () => {
  const { store, deps, wanted } = await scene();
  await store.organizations.suspend('org_acme', 'test');
  for (const kind of ['command', 'operator'] as const) {
    const { record } = await createKey(deps, { kind, by: kind }, { ...wanted, scopes: ['*'], expiresAtMs: undefined });
    const { record: successor } = await rotateKey(
      deps,
      { kind, by: kind },
      { id: record.id, organization: undefined, overlapMs: 0, expiresAtMs: null },
    );
    assert.deepEqual([successor.createdBy, successor.expiresAtMs], [kind, undefined]);
  }
});

it('a key that expires while its request is on its way does nothing', async () => {
  const { store, deps, wanted } = await scene();
  const { record } = issue({ expiresAtMs: START_MS });
  await store.keys.create(record);
  const actor: Actor = { kind: 'key', by: record.id, organization: 'org_acme' };
  const request = { ...wanted, expiresAtMs: undefined };
  await assert.rejects(createKey(deps, actor, request), { code: 'api_key_expired' });
  await assert.rejects(createKey(deps, { ...actor, by: 'key_none' }, request), { code: 'api_key_revoked' });
});

it('a key that is revoked between the check and the write does nothing', async () => {
  const { store, deps, wanted } = await scene();
  const { record } = issue({ scopes: ['*'] });
  await store.keys.create(record);
  const create: typeof store.keys.create = (...args) => {
    void store.keys.revoke(record.id, 'test', undefined);
    return store.keys.create(...args);
  };
  const late = { ...deps, store: { ...store, keys: { ...store.keys, create } } };
  const actor: Actor = { kind: 'key', by: record.id, organization: 'org_acme' };
  await assert.rejects(createKey(late, actor, { ...wanted, expiresAtMs: undefined }), { code: 'api_key_revoked' });
  assert.equal((await store.keys.list()).length, 1);
});

it('records that others change all the time are unavailable in the end', async () => {
  const { store, deps } = await scene();
  let attempts = 0;
  const create = () => {
    attempts += 1;
    throw new ConditionFailed('organizations');
  };
  const busy = { ...deps, store: { ...store, organizations: { ...store.organizations, create } } };
  const wanted = { id: undefined, name: 'New', tier: 'standard', contacts: [], operator: false };
  await assert.rejects(createOrganization(busy, { kind: 'command', by: 'me' }, wanted), {
    code: 'records_unavailable',
  });
  assert.equal(attempts, 20);
});
