// An organization manages its own keys with one of its keys: openapi/gateway/account.yaml through the whole gateway.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AdministrationAnswer, OWN_ENTRY, startAdministration } from '../../support/administration.ts';
import { closesAfterAll } from '../../support/closing.ts';

const start = closesAfterAll();
const refusedWith = ({ status, body }: AdministrationAnswer) => [status, body?.error?.code, body?.error?.param];
/** For its scopes; no request goes there. */
const FILES = { contracts: ['files.yaml'], live: 'http://127.0.0.1:9' };
const LIFE_MS = 3_600_000;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

describe('keys of an organization', async () => {
  const { gateway, administer } = await start(startAdministration({ upstreams: { ...OWN_ENTRY, files: FILES } }));
  const { store } = gateway;
  let organizations = 0;
  /** An organization with a key that holds this. */
  async function organizationWith(more: Parameters<typeof gateway.issueKey>[0] = {}) {
    organizations += 1;
    const organization = `org_own_${organizations}`;
    const scopes = ['gateway:read', 'gateway:keys', 'files:read'];
    const { key, id } = await gateway.issueKey({ organization, scopes, ...more });
    const call = (line: string, body?: unknown, headers: Record<string, string> = {}) =>
      administer(line, { key, body, headers });
    return { organization, key, id, call };
  }

  async function stateOf(organization: string) {
    const keys = await store.keys.list({ organization });
    const unused = keys.map((key) => ({ ...key, lastUsedAtMs: undefined }));
    return [unused, await store.audit.list({ organization, limit: 10 })];
  }

  it('are created, listed, read, changed, rotated and revoked', async () => {
    const { call, organization, id: acting } = await organizationWith();
    const end = inMs(LIFE_MS);
    const wanted = { name: 'Nächtlich', scopes: ['files:read'], allowed_cidrs: ['203.0.113.0/24'], expires_at: end };
    const created = await call('POST /gateway/v1/keys', wanted);
    assert.equal(created.status, 201);
    const { secret, id, secret_shown, ...shown } = created.body;
    assert.match(secret, /^sk_live_/);
    assert.equal(secret_shown, 'here');
    assert.deepEqual(shown, {
      organization_id: organization,
      mode: 'live',
      ...wanted,
      state: 'active',
      prefix: secret.slice(0, 12),
      last_four: secret.slice(-4),
      created_at: shown.created_at,
      created_by: acting,
      ...{ revoked_at: null, revoked_by: null, revoked_reason: null, last_used_at: null, replaced_by: null },
    });
    assert.equal(created.headers.get('location'), `/gateway/v1/keys/${id}`);
    const read = await call(`GET /gateway/v1/keys/${id}`);
    assert.deepEqual([read.status, read.body.id, read.headers.get('etag')], [200, id, created.headers.get('etag')]);
    assert.equal(JSON.stringify(read.body).includes(secret), false);

    const changed = await call(
      `PATCH /gateway/v1/keys/${id}`,
      { name: 'Other' },
      { 'if-match': String(read.headers.get('etag')) },
    );
    assert.deepEqual([changed.status, changed.body.name], [200, 'Other']);
    assert.notEqual(changed.headers.get('etag'), read.headers.get('etag'));

    const rotated = await call(`POST /gateway/v1/keys/${id}/rotate`, { overlap_seconds: 60 });
    assert.equal(rotated.status, 201);
    assert.match(rotated.body.secret, /^sk_live_/);
    assert.deepEqual([rotated.body.replaces.id, rotated.body.replaces.replaced_by], [id, rotated.body.id]);
    assert.deepEqual(rotated.body.allowed_cidrs, ['203.0.113.0/24']);

    const revoked = await call(`POST /gateway/v1/keys/${id}/revoke`, { reason: 'leaked' });
    assert.deepEqual(
      [revoked.status, revoked.body.state, revoked.body.revoked_by, revoked.body.revoked_reason],
      [200, 'revoked', acting, 'leaked'],
    );
    const again = await call(`POST /gateway/v1/keys/${id}/revoke`, { reason: 'another' });
    assert.deepEqual([again.status, again.body.revoked_reason], [200, 'leaked']);

    const audit = await store.audit.list({ organization, limit: 10 });
    assert.deepEqual(
      audit.map(({ kind, by, details }) => [kind, by, typeof details.request_id]).slice(0, 4),
      ['key.revoked', 'key.rotated', 'key.changed', 'key.created'].map((kind) => [kind, acting, 'string']),
    );
    assert.equal(audit[3]?.details.request_id, created.headers.get('x-request-id'));
    assert.equal(JSON.stringify(audit).includes(secret), false);
  });

  it('are listed page by page, stable under new keys, and by state', async () => {
    const { call, organization, id } = await organizationWith();
    const made = [id];
    for (let number = 0; number < 4; number += 1)
      made.push((await call('POST /gateway/v1/keys', { scopes: ['files:read'], name: `${number}` })).body.id);
    const first = await call('GET /gateway/v1/keys?limit=2');
    assert.deepEqual([first.body.data.length, first.body.has_more], [2, true]);
    await call('POST /gateway/v1/keys', { scopes: ['files:read'] });
    await store.keys.revoke(String(made[1]), 'me', undefined);
    const second = await call(`GET /gateway/v1/keys?limit=3&cursor=${first.body.cursor}`);
    assert.deepEqual(
      [...first.body.data, ...second.body.data].map((key) => key.id),
      made,
    );
    const last = await call(`GET /gateway/v1/keys?limit=3&cursor=${second.body.cursor}`);
    assert.deepEqual([last.body.data.length, last.body.cursor, last.body.has_more], [1, null, false]);
    const revoked = await call('GET /gateway/v1/keys?state=revoked&limit=1');
    assert.deepEqual(
      [revoked.body.data.map((key: { id: string }) => key.id), revoked.body.has_more],
      [[made[1]], false],
    );
    assert.deepEqual(refusedWith(await call(`GET /gateway/v1/keys?state=revoked&cursor=${first.body.cursor}`)), [
      400,
      'invalid_cursor',
      'cursor',
    ]);
    const { call: other } = await organizationWith();
    assert.deepEqual(refusedWith(await other(`GET /gateway/v1/keys?cursor=${first.body.cursor}`)), [
      400,
      'invalid_cursor',
      'cursor',
    ]);
    assert.ok(organization);
  });

  it('of another organization are unknown to every operation', async () => {
    const { call } = await organizationWith();
    const { id: foreign, organization: other } = await organizationWith();
    const before = [await store.keys.get(foreign), await store.audit.list({ organization: other, limit: 10 })];
    for (const id of [foreign, 'key_nobody', 'key_0'])
      for (const [line, body] of [
        [`GET /gateway/v1/keys/${id}`],
        [`PATCH /gateway/v1/keys/${id}`, { name: 'mine' }],
        [`PATCH /gateway/v1/keys/${id}?dry_run=true`, { name: 'mine' }],
        [`POST /gateway/v1/keys/${id}/rotate`],
        [`POST /gateway/v1/keys/${id}/revoke`],
        [`POST /gateway/v1/keys/${id}/revoke?dry_run=true`, { allow_last: true }],
      ] as const)
        assert.deepEqual(refusedWith(await call(line, body)).slice(0, 2), [404, 'resource_missing'], line);
    for (const line of [`GET /gateway/v1/organizations/${other}/keys`, `GET /gateway/v1/organizations/${other}`])
      assert.deepEqual(refusedWith(await call(line)).slice(0, 2), [403, 'insufficient_scope'], line);
    for (const id of ['org_acme', '..%2Fkey_1', '%00', 'KEY_1'])
      assert.ok((await call(`GET /gateway/v1/keys/${id}`)).status >= 400, id);
    assert.deepEqual(
      [await store.keys.get(foreign), await store.audit.list({ organization: other, limit: 10 })],
      before,
    );
  });

  const bound = {
    scopes: ['gateway:read', 'gateway:keys', 'files:read'],
    allowedCidrs: ['127.0.0.0/8', '::ffff:192.0.2.0/120', '2001:db8::/32'],
    expiresAtMs: Date.now() + LIFE_MS,
  };
  const fits = { scopes: ['files:read'], allowed_cidrs: ['127.0.0.1'], expires_at: inMs(LIFE_MS / 2) };
  const beyond: Record<string, readonly [change: object, status: number, code: string, param: string]> = {
    'a scope it does not hold': [{ scopes: ['files:read', 'files:write'] }, 403, 'grant_not_held', 'scopes'],
    'all scopes': [{ scopes: ['*'] }, 403, 'grant_not_held', 'scopes'],
    'a scope of operators': [{ scopes: ['gateway:organizations:write'] }, 403, 'grant_not_held', 'scopes'],
    'a scope that does not exist': [{ scopes: ['files:read', 'nothing:read'] }, 422, 'reference_missing', 'scopes[1]'],
    'a scope in another case': [{ scopes: ['Files:read'] }, 422, 'reference_missing', 'scopes[0]'],
    'the same scope twice': [{ scopes: ['files:read', 'files:read'] }, 400, 'validation_failed', 'scopes'],
    'no scope': [{ scopes: [] }, 400, 'validation_failed', 'scopes'],
    'any address': [{ allowed_cidrs: [] }, 403, 'grant_not_held', 'allowed_cidrs'],
    'all addresses': [{ allowed_cidrs: ['0.0.0.0/0'] }, 403, 'grant_not_held', 'allowed_cidrs'],
    'all addresses of IPv4 in IPv6': [{ allowed_cidrs: ['::ffff:0:0/96'] }, 403, 'grant_not_held', 'allowed_cidrs'],
    'all addresses of IPv6': [{ allowed_cidrs: ['::/0'] }, 403, 'grant_not_held', 'allowed_cidrs'],
    'a range around its own': [{ allowed_cidrs: ['126.0.0.0/7'] }, 403, 'grant_not_held', 'allowed_cidrs'],
    'one address too many': [{ allowed_cidrs: ['127.0.0.1', '192.0.3.0'] }, 403, 'grant_not_held', 'allowed_cidrs'],
    'a text that is no range': [{ allowed_cidrs: ['127.0.0.1/33'] }, 400, 'validation_failed', 'allowed_cidrs[0]'],
    'an address with a zone': [{ allowed_cidrs: ['fe80::1%eth0'] }, 400, 'validation_failed', 'allowed_cidrs[0]'],
    'no end': [{ expires_at: null }, 403, 'grant_not_held', 'expires_at'],
    'a later end': [{ expires_at: inMs(LIFE_MS + 5000) }, 403, 'grant_not_held', 'expires_at'],
    'an end in the past': [{ expires_at: inMs(-1000) }, 400, 'validation_failed', 'expires_at'],
    'the end of time': [{ expires_at: '9999-12-31T23:59:59Z' }, 403, 'grant_not_held', 'expires_at'],
  };
  const { call: callBound, organization: boundOrganization } = await organizationWith(bound);
  const { body: target } = await callBound('POST /gateway/v1/keys', fits);
  for (const [what, [change, ...refusal]] of Object.entries(beyond)) {
    it(`do not get ${what} from another key`, async () => {
      const before = await stateOf(boundOrganization);
      for (const suffix of ['', '?dry_run=true']) {
        assert.deepEqual(
          refusedWith(await callBound(`POST /gateway/v1/keys${suffix}`, { ...fits, ...change })),
          refusal,
        );
        assert.deepEqual(refusedWith(await callBound(`PATCH /gateway/v1/keys/${target.id}${suffix}`, change)), refusal);
      }
      assert.deepEqual(await stateOf(boundOrganization), before);
    });
  }

  it('get everything that the acting key holds', async () => {
    const { call } = await organizationWith(bound);
    const everything = {
      scopes: bound.scopes,
      allowed_cidrs: ['127.0.0.0/9', '192.0.2.128/25', '2001:db8:1::/48', '::ffff:127.0.0.1'],
      expires_at: new Date(bound.expiresAtMs).toISOString(),
      mode: 'test',
    };
    const { status, body } = await call('POST /gateway/v1/keys', everything);
    assert.deepEqual([status, body.mode], [201, 'test']);
    const all = await organizationWith({ scopes: ['*', 'gateway:keys'] });
    assert.equal((await all.call('POST /gateway/v1/keys', { scopes: ['*'] })).status, 201);
    assert.equal((await all.call('POST /gateway/v1/keys', { scopes: ['files:write', 'gateway:keys'] })).status, 201);
    const refused = await all.call('POST /gateway/v1/keys', { scopes: ['*', 'gateway:read'] });
    assert.deepEqual(
      [...refusedWith(refused), refused.body.error.required_scopes],
      [403, 'grant_not_held', 'scopes', ['gateway:read']],
    );
  });

  it('that hold more are neither changed nor rotated, but revoked', async () => {
    const { call, organization } = await organizationWith(bound);
    for (const more of [
      { scopes: ['files:read', 'files:write'] },
      { allowedCidrs: [] },
      { expiresAtMs: Number.POSITIVE_INFINITY },
    ]) {
      const { expiresAtMs, ...rest } = { ...bound, organization, ...more };
      const { id } = await gateway.issueKey({ ...rest, ...(Number.isFinite(expiresAtMs) && { expiresAtMs }) });
      assert.deepEqual(refusedWith(await call(`PATCH /gateway/v1/keys/${id}`, { name: 'x' })).slice(0, 2), [
        403,
        'grant_not_held',
      ]);
      const rotation = await call(`POST /gateway/v1/keys/${id}/rotate`, { overlap_seconds: 0 });
      // The lifetime of the successor is within that of the acting key, so that an unlimited key can be rotated.
      if ('expiresAtMs' in more) assert.equal(rotation.status, 201);
      else assert.deepEqual(refusedWith(rotation).slice(0, 2), [403, 'grant_not_held']);
      assert.equal((await call(`POST /gateway/v1/keys/${id}/revoke`)).body.state, 'revoked');
    }
  });

  it('do not live longer by rotations, and keep their own end within a long overlap', async () => {
    const { call, id } = await organizationWith(bound);
    const end = new Date(bound.expiresAtMs).toISOString();
    const { body: first } = await call(`POST /gateway/v1/keys/${id}/rotate`, { overlap_seconds: 7_776_000 });
    assert.deepEqual([first.expires_at, first.replaces.expires_at], [end, end]);
    for (const expires_at of [null, inMs(2 * LIFE_MS)])
      assert.deepEqual(refusedWith(await call(`POST /gateway/v1/keys/${first.id}/rotate`, { expires_at })), [
        403,
        'grant_not_held',
        'expires_at',
      ]);
    const past = await call(`POST /gateway/v1/keys/${first.id}/rotate`, { expires_at: inMs(-1) });
    assert.deepEqual(refusedWith(past), [400, 'validation_failed', 'expires_at']);
  });

  it('that are over do not come back', async () => {
    const { call, organization } = await organizationWith({ scopes: ['gateway:keys', 'gateway:read', '*'] });
    const { body: replaced } = await call('POST /gateway/v1/keys', { scopes: ['files:read'] });
    await call(`POST /gateway/v1/keys/${replaced.id}/rotate`, { overlap_seconds: 600 });
    const { body: leaked } = await call('POST /gateway/v1/keys', { scopes: ['files:read'] });
    await call(`POST /gateway/v1/keys/${leaked.id}/rotate`, { overlap_seconds: 0 });
    const { body: revoked } = await call('POST /gateway/v1/keys', { scopes: ['files:read'] });
    await call(`POST /gateway/v1/keys/${revoked.id}/revoke`);
    const expired = await gateway.issueKey({ organization, expiresAtMs: Date.now() - 1 });
    for (const { id } of [replaced, leaked, revoked, expired]) {
      for (const expires_at of [null, inMs(LIFE_MS)])
        assert.deepEqual(refusedWith(await call(`PATCH /gateway/v1/keys/${id}`, { expires_at })).slice(0, 2), [
          409,
          'invalid_transition',
        ]);
      const rotated = await call(`POST /gateway/v1/keys/${id}/rotate`);
      assert.deepEqual(refusedWith(rotated).slice(0, 2), [409, 'invalid_transition']);
    }
    assert.equal((await call(`PATCH /gateway/v1/keys/${replaced.id}`, { name: 'old' })).body.name, 'old');
    assert.equal((await call(`PATCH /gateway/v1/keys/${replaced.id}`, { expires_at: inMs(5000) })).status, 200);
  });

  it('go down to the last one only if that is wanted', async () => {
    const { call, id, organization } = await organizationWith();
    await gateway.issueKey({ organization, mode: 'test' });
    for (const suffix of ['', '?dry_run=true'])
      assert.deepEqual(refusedWith(await call(`POST /gateway/v1/keys/${id}/revoke${suffix}`)).slice(0, 2), [
        409,
        'last_key',
      ]);
    const trial = await call(`POST /gateway/v1/keys/${id}/revoke?dry_run=true`, { allow_last: true });
    assert.deepEqual([trial.status, trial.body.state], [200, 'revoked']);
    assert.equal((await store.keys.get(id))?.revokedAtMs, undefined);
    const gone = await call(`POST /gateway/v1/keys/${id}/revoke?wait=5`, { allow_last: true });
    assert.deepEqual([gone.status, gone.body.in_force?.unconfirmed], [200, 0]);
    assert.ok(gone.body.in_force.confirmed >= 1);
    assert.deepEqual(Object.keys(gone.body.in_force).sort(), ['confirmed', 'unconfirmed', 'waited_ms']);
    assert.deepEqual(refusedWith(await call('GET /gateway/v1/keys')).slice(0, 2), [401, 'api_key_revoked']);
  });

  it('that revoke themselves at once leave one, and one that is rotated at once has one successor', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { organization, id, call } = await organizationWith();
      const { key, id: other } = await gateway.issueKey({ organization, scopes: ['gateway:keys'] });
      const answers = await Promise.all([
        call(`POST /gateway/v1/keys/${id}/revoke`),
        administer(`POST /gateway/v1/keys/${other}/revoke`, { key }),
      ]);
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
      const living = (await store.keys.list({ organization })).filter(({ revokedAtMs }) => revokedAtMs === undefined);
      assert.equal(living.length, 1);
    }
    const { organization, id, call } = await organizationWith();
    const rotations = await Promise.all(
      Array.from({ length: 4 }, () => call(`POST /gateway/v1/keys/${id}/rotate`, { overlap_seconds: 60 })),
    );
    assert.deepEqual(rotations.map(({ status }) => status).toSorted(), [201, 409, 409, 409]);
    assert.equal((await store.keys.list({ organization })).length, 2);
  });

  it('are tried out without a trace', async () => {
    const { call, id, organization } = await organizationWith();
    const before = await store.audit.list({ organization, limit: 10 });
    const made = await call('POST /gateway/v1/keys?dry_run=true&wait=1', { scopes: ['files:read'] });
    assert.deepEqual([made.status, made.body.secret, made.body.secret_shown], [201, null, 'never']);
    assert.deepEqual([made.headers.get('location'), made.body.in_force], [null, undefined]);
    const changed = await call(`PATCH /gateway/v1/keys/${id}?dry_run=true`, { name: 'new' });
    assert.deepEqual([changed.status, changed.body.name], [200, 'new']);
    const rotated = await call(`POST /gateway/v1/keys/${id}/rotate?dry_run=true`, {});
    assert.deepEqual([rotated.body.secret, rotated.body.replaces.replaced_by], [null, rotated.body.id]);
    assert.deepEqual(await store.audit.list({ organization, limit: 10 }), before);
    assert.deepEqual((await store.keys.list({ organization })).length, 1);
    assert.equal((await store.keys.get(id))?.name, (await call(`GET /gateway/v1/keys/${id}`)).body.name);
  });

  it('are changed by one of many who read the same', async () => {
    const { call, id } = await organizationWith();
    const etag = String((await call(`GET /gateway/v1/keys/${id}`)).headers.get('etag'));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, number) =>
        call(`PATCH /gateway/v1/keys/${id}`, { name: `name ${number}` }, { 'if-match': etag }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412, 412, 412]);
    const without = await Promise.all(
      Array.from({ length: 6 }, (_, number) => call(`PATCH /gateway/v1/keys/${id}`, { name: `again ${number}` })),
    );
    assert.ok(without.every(({ status }) => status === 200));
    const stale = await call(`POST /gateway/v1/keys/${id}/revoke`, { allow_last: true }, { 'if-match': etag });
    assert.deepEqual(refusedWith(stale).slice(0, 2), [412, 'precondition_failed']);
  });

  it('have one secret per Idempotency-Key, in one answer', async () => {
    const { call, organization } = await organizationWith();
    const headers = { 'idempotency-key': 'once' };
    const first = await call('POST /gateway/v1/keys', { scopes: ['files:read'] }, headers);
    const again = await call('POST /gateway/v1/keys', { scopes: ['files:read'] }, headers);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual([again.body.id, again.body.secret, again.body.secret_shown], [first.body.id, null, 'before']);
    assert.equal((await store.keys.list({ organization })).length, 2);
  });

  it('that were revoked a moment ago create none, although the gateway remembers them', async () => {
    const { call, id, organization } = await organizationWith();
    await gateway.issueKey({ organization });
    await call('GET /gateway/v1/keys');
    await store.keys.revoke(id, 'me', undefined);
    // Not yet told: the embedded store is read every quarter of a second.
    for (const [line, body] of [
      ['POST /gateway/v1/keys', { scopes: ['files:read'] }],
      [`PATCH /gateway/v1/keys/${id}`, { name: 'alive' }],
      [`POST /gateway/v1/keys/${id}/rotate`, {}],
    ] as const)
      assert.deepEqual(refusedWith(await call(line, body)).slice(0, 2), [401, 'api_key_revoked']);
    assert.equal((await store.keys.list({ organization })).length, 2);
  });
});
