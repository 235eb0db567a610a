// Operators manage organizations and their keys: openapi/gateway/administration.yaml through the whole gateway.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AdministrationAnswer, OWN_ENTRY, startAdministration } from '../../support/administration.ts';
import { closesAfterAll } from '../../support/closing.ts';

const start = closesAfterAll();
const refusedWith = ({ status, body }: AdministrationAnswer) => [status, body?.error?.code, body?.error?.param];
/** For its scopes; no request goes there. */
const FILES = { contracts: ['files.yaml'], live: 'http://127.0.0.1:9' };
const ALL = ['organizations:read', 'organizations:write', 'keys:read', 'keys:write'].map((scope) => `gateway:${scope}`);

describe('organizations', async () => {
  const { gateway, administer } = await start(startAdministration({ upstreams: { ...OWN_ENTRY, files: FILES } }));
  const { store } = gateway;
  const staff = { organization: 'org_staff', operator: true, tier: 'premium' } as const;
  const { key, id: acting } = await gateway.issueKey({ ...staff, scopes: [...ALL, '*'] });
  await gateway.issueKey({ organization: 'org_Zeta' });
  const call = (line: string, body?: unknown, headers: Record<string, string> = {}) =>
    administer(line, { key, body, headers });
  let made = 0;
  async function create(more: object = {}) {
    made += 1;
    const id = `org_made_${made}`;
    const answer = await call('POST /gateway/v1/organizations', { id, name: 'Ünïted 🗝', tier: 'standard', ...more });
    assert.equal(answer.status, 201, answer.text);
    return { id: String(answer.body.id), answer };
  }

  it('are created, read, changed, suspended and resumed, each with its audit entry', async () => {
    const { id, answer } = await create({ contacts: ['ops@example.com'] });
    const expected = { name: 'Ünïted 🗝', tier: 'standard', state: 'active', contacts: ['ops@example.com'] };
    assert.deepEqual(answer.body, { id, ...expected, operator: false });
    assert.equal(answer.headers.get('location'), `/gateway/v1/organizations/${id}`);
    const read = await call(`GET /gateway/v1/organizations/${id}`);
    assert.deepEqual(read.body, answer.body);
    assert.equal(read.headers.get('etag'), answer.headers.get('etag'));
    const changed = await call(
      `PATCH /gateway/v1/organizations/${id}`,
      { tier: 'premium', contacts: [] },
      { 'if-match': String(read.headers.get('etag')) },
    );
    assert.deepEqual([changed.status, changed.body.tier, changed.body.contacts], [200, 'premium', []]);
    const suspended = await call(`POST /gateway/v1/organizations/${id}/suspend?wait=5`);
    assert.deepEqual([suspended.body.state, suspended.body.in_force.unconfirmed], ['suspended', 0]);
    assert.equal((await call(`POST /gateway/v1/organizations/${id}/resume`)).body.state, 'active');
    const audit = await store.audit.list({ organization: id, limit: 10 });
    assert.deepEqual(
      audit.map(({ kind, by }) => [kind, by]),
      ['resumed', 'suspended', 'changed', 'created'].map((kind) => [`organization.${kind}`, acting]),
    );
    assert.ok(audit.every(({ details }) => typeof details.request_id === 'string' && details.after !== undefined));
  });

  const wrong: Record<string, readonly [line: string, body: object | undefined, status: number, code: string]> = {
    'an id that is taken': [
      'POST /organizations',
      { id: 'org_Zeta', name: 'a', tier: 'standard' },
      409,
      'already_exists',
    ],
    'an id of another form': [
      'POST /organizations',
      { id: 'key_a', name: 'a', tier: 'standard' },
      400,
      'validation_failed',
    ],
    'a name of blanks': ['POST /organizations', { name: ' \u2003', tier: 'standard' }, 400, 'validation_failed'],
    'a name of two lines': ['POST /organizations', { name: 'a\nb', tier: 'standard' }, 400, 'validation_failed'],
    'the rank of operators': [
      'POST /organizations',
      { name: 'a', tier: 'standard', operator: true },
      400,
      'validation_failed',
    ],
    'a tier that does not exist': ['POST /organizations', { name: 'a', tier: 'gold' }, 422, 'reference_missing'],
    'a tier of every object': ['POST /organizations', { name: 'a', tier: 'constructor' }, 422, 'reference_missing'],
    'another tier that does not exist': ['PATCH /organizations/org_Zeta', { tier: 'gold' }, 422, 'reference_missing'],
    'a contact that is none': ['PATCH /organizations/org_Zeta', { contacts: ['a'] }, 400, 'validation_failed'],
    'no member': ['PATCH /organizations/org_Zeta', {}, 400, 'validation_failed'],
    'its name': ['PATCH /organizations/org_Zeta', { name: 'other' }, 400, 'validation_failed'],
    'an unknown organization to change': ['PATCH /organizations/org_none', { contacts: [] }, 404, 'resource_missing'],
    'an unknown organization to read': ['GET /organizations/org_none', undefined, 404, 'resource_missing'],
    'an unknown organization to suspend': ['POST /organizations/org_none/suspend', undefined, 404, 'resource_missing'],
    'the organization of the acting key to suspend': [
      'POST /organizations/org_staff/suspend',
      undefined,
      409,
      'invalid_transition',
    ],
    'an unknown organization for a key': [
      'POST /organizations/org_none/keys',
      { scopes: ['files:read'] },
      404,
      'resource_missing',
    ],
    'an unknown organization to list': ['GET /organizations/org_none/keys', undefined, 404, 'resource_missing'],
    'scopes of operators': [
      'POST /organizations/org_Zeta/keys',
      { scopes: ['gateway:keys:read'] },
      403,
      'grant_not_held',
    ],
    'a scope that the acting key does not hold': [
      'POST /organizations/org_Zeta/keys',
      { scopes: ['gateway:read'] },
      403,
      'grant_not_held',
    ],
  };
  for (const [what, [request, body, status, code]] of Object.entries(wrong)) {
    it(`do not get ${what}`, async () => {
      const before = [await store.organizations.list(), await store.audit.list({ limit: 3 })];
      const [method, path] = request.split(' ');
      for (const suffix of method === 'GET' ? [''] : ['', '?dry_run=true']) {
        const answer = await call(`${method} /gateway/v1${path}${suffix}`, body);
        assert.deepEqual([answer.status, answer.body.error.code], [status, code], answer.text);
      }
      assert.deepEqual([await store.organizations.list(), await store.audit.list({ limit: 3 })], before);
    });
  }

  it('are tried out without a trace', async () => {
    const before = [await store.organizations.list(), await store.audit.list({ limit: 3 })];
    const trial = await call('POST /gateway/v1/organizations?dry_run=true', { name: 'a', tier: 'standard' });
    assert.deepEqual([trial.status, trial.headers.get('location')], [201, null]);
    for (const [line, body] of [
      ['PATCH /gateway/v1/organizations/org_Zeta?dry_run=true', { tier: 'premium' }],
      ['POST /gateway/v1/organizations/org_Zeta/suspend?dry_run=true&wait=5', undefined],
    ] as const) {
      const answer = await call(line, body);
      assert.deepEqual([answer.status, answer.body.in_force], [200, undefined]);
    }
    assert.deepEqual([await store.organizations.list(), await store.audit.list({ limit: 3 })], before);
  });

  it('are found by the beginning of id and name, tier and state, page by page', async () => {
    const ids = [];
    for (const name of ['Straße', 'STRAND', 'Other']) ids.push((await create({ name, tier: 'premium' })).id);
    await call(`POST /gateway/v1/organizations/${ids[1]}/suspend`);
    const idsOf = async (query: string) => {
      const found = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const line = `GET /gateway/v1/organizations?limit=1&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`;
        const { status, body, text } = await call(line);
        assert.equal(status, 200, text);
        assert.equal(body.has_more, body.cursor !== null);
        found.push(...body.data.map((one: { id: string }) => one.id));
        cursor = body.cursor;
      }
      return found;
    };
    assert.deepEqual(await idsOf('find=stra'), [ids[0], ids[1]]);
    assert.deepEqual(await idsOf('find=STRASSE'), []);
    assert.deepEqual(await idsOf(`find=${ids[2]?.toUpperCase()}`), [ids[2]]);
    assert.deepEqual(await idsOf('find=stra&state=suspended'), [ids[1]]);
    assert.deepEqual(await idsOf('find=org_z'), ['org_Zeta']);
    assert.deepEqual((await idsOf('')).toSorted(), (await store.organizations.list()).map(({ id }) => id).toSorted());
    assert.ok((await idsOf('tier=premium')).includes('org_staff'));
    const { body } = await call('GET /gateway/v1/organizations?limit=1&find=stra');
    const moved = await call(`GET /gateway/v1/organizations?limit=1&find=str&cursor=${body.cursor}`);
    assert.deepEqual(refusedWith(moved), [400, 'invalid_cursor', 'cursor']);
  });

  it('are changed by one of many who read the same', async () => {
    const { id, answer } = await create();
    const etag = String(answer.headers.get('etag'));
    const answers = await Promise.all([
      call(`PATCH /gateway/v1/organizations/${id}`, { tier: 'premium' }, { 'if-match': etag }),
      call(`PATCH /gateway/v1/organizations/${id}`, { contacts: ['a@example.com'] }, { 'if-match': etag }),
      call(`POST /gateway/v1/organizations/${id}/suspend`, undefined, { 'if-match': etag }),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 412, 412]);
    assert.equal((await store.audit.list({ organization: id, limit: 10 })).length, 2);
  });

  it('of every customer have keys that operators can create, change, rotate and revoke', async () => {
    const { id: organization } = await create();
    await call(`POST /gateway/v1/organizations/${organization}/suspend`);
    const keys = `/gateway/v1/organizations/${organization}/keys`;
    const { status, body, headers } = await call(`POST ${keys}`, { scopes: ['files:read'], mode: 'test' });
    assert.deepEqual([status, body.organization_id, body.created_by], [201, organization, acting]);
    assert.equal(headers.get('location'), `${keys}/${body.id}`);
    assert.equal((await call(`PATCH ${keys}/${body.id}`, { name: 'new' })).body.name, 'new');
    const rotated = await call(`POST ${keys}/${body.id}/rotate`);
    assert.equal(rotated.status, 201);
    const { body: listed } = await call(`GET ${keys}`);
    assert.deepEqual(
      listed.data.map((one: { id: string }) => one.id),
      [body.id, rotated.body.id],
    );
    for (const line of [`GET ${keys}/${body.id}`, `PATCH ${keys}/${body.id}`, `POST ${keys}/${body.id}/revoke`]) {
      const elsewhere = line.replace(organization, 'org_Zeta');
      const answer = await call(elsewhere, line.startsWith('PATCH') ? { name: 'x' } : undefined);
      assert.deepEqual(refusedWith(answer).slice(0, 2), [404, 'resource_missing'], elsewhere);
    }
    assert.equal((await call(`POST ${keys}/${body.id}/revoke`)).body.state, 'revoked');
    const last = await call(`POST ${keys}/${rotated.body.id}/revoke`);
    assert.deepEqual(refusedWith(last).slice(0, 2), [409, 'last_key']);
  });

  it('do nothing more through a key of operators whose organization was suspended a moment ago', async () => {
    const own = { organization: 'org_former_staff', operator: true } as const;
    const { key: former } = await gateway.issueKey({ ...own, scopes: ALL });
    await administer('GET /gateway/v1/organizations', { key: former });
    await store.organizations.suspend('org_former_staff', 'me');
    for (const [line, body] of [
      ['POST /gateway/v1/organizations', { name: 'a', tier: 'standard' }],
      ['POST /gateway/v1/organizations/org_former_staff/resume', undefined],
      ['POST /gateway/v1/organizations/org_staff/suspend', undefined],
    ] as const)
      assert.deepEqual(refusedWith(await administer(line, { key: former, body })).slice(0, 2), [
        403,
        'account_inactive',
      ]);
    assert.equal((await store.organizations.get('org_former_staff'))?.state, 'suspended');
    assert.equal((await store.organizations.get('org_staff'))?.state, 'active');
  });
});
