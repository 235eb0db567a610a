// List, create, get, update and delete of principals, with the administrator's own credentials and with a key, before a mail server that is
// as odd as the real one. Access, and its refusal.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import type { KeyOptions } from '../../support/gateway.ts';
import { bodyOf, newPassword, startMailWorld } from '../../support/mail.ts';

const OPERATOR: KeyOptions = {
  organization: 'org_operator',
  operator: true,
  scopes: ['mail:read', 'mail:write'],
};

// An answer that breaks the contract fails the request.
const world = await startMailWorld({ response: 'refuse' });
await world.call('POST /api/principal', { type: 'domain', name: 'example.com' });
after(() => world.stop());

const callers = {
  'the administrator': async () => world.administrator,
  'a key of an operator organization': async () => (await world.gateway.authorize(OPERATOR)).authorization,
};

for (const [who, authorizationOf] of Object.entries(callers)) {
  describe(who, () => {
    const name = `dana-${who.length}`;
    let Authorization: string;
    let call: (line: string, body?: unknown) => Promise<Answer>;
    before(async () => {
      Authorization = await authorizationOf();
      call = (line, body) => world.call(line, body, { Authorization });
    });

    it('creates, gets, lists, changes and deletes a principal', async () => {
      const principal = { name, description: 'Dana', emails: [`${name}@example.com`], quota: 1024 };
      const created = await call('POST /api/principal', { ...principal, secrets: newPassword() });
      assert.equal(created.status, 200, created.body.toString());
      const id = bodyOf(created).data;
      assert.equal(typeof id, 'number');

      const got = await call(`GET /api/principal/${name}`);
      assert.equal(got.status, 200);
      assert.deepEqual(bodyOf(got), { data: { id, type: 'individual', ...principal, roles: ['user'] } });

      const listed = await call(`GET /api/principal?types=individual&filter=${name}&page=1&limit=10`);
      assert.deepEqual(bodyOf(listed), { data: { items: [bodyOf(got).data], total: 1 } });

      const changes = [
        { action: 'set', field: 'description', value: 'Dana W.' },
        { action: 'addItem', field: 'emails', value: `${name}.w@example.com` },
        { action: 'removeItem', field: 'roles', value: 'user' },
      ];
      const changed = await call(`PATCH /api/principal/${name}`, changes);
      assert.deepEqual([changed.status, bodyOf(changed)], [200, { data: null }]);
      const { data } = bodyOf(await call(`GET /api/principal/${name}`));
      assert.deepEqual(data, {
        ...{ id, type: 'individual', name, description: 'Dana W.', quota: 1024 },
        emails: [`${name}@example.com`, `${name}.w@example.com`],
      });

      const deleted = await call(`DELETE /api/principal/${name}`);
      assert.deepEqual([deleted.status, bodyOf(deleted)], [200, { data: null }]);
      assertRefusal(await call(`GET /api/principal/${name}`), 'resource_missing');
      assertRefusal(await call(`DELETE /api/principal/${name}`), 'resource_missing');
      assertRefusal(await call(`PATCH /api/principal/${name}`, changes), 'resource_missing');
    });

    it('may write a name in any case', async () => {
      await call('POST /api/principal', { type: 'group', name: 'Support' });
      for (const spelling of ['support', 'SUPPORT', 'Supp%6Frt']) {
        const { data } = bodyOf(await call(`GET /api/principal/${spelling}`));
        assert.equal((data as { name: string }).name, 'support', spelling);
      }
      assert.equal((await call('DELETE /api/principal/sUPPORT')).status, 200);
    });

    it('names the missing and the invented members', async () => {
      const refused = await call('POST /api/principal', { typ: 'group' });
      assertRefusal(refused, 'validation_failed');
      const errors = refused.error.errors as { pointer: string; code: string }[];
      assert.deepEqual(errors.map(({ pointer, code }) => `${pointer} ${code}`).sort(), [
        '/name required',
        '/typ unknown',
      ]);
    });
  });
}

describe('a list', () => {
  it('has a size even if none is requested', async () => {
    await world.call('GET /api/principal');
    await world.call('GET /api/principal?types=group');
    assert.deepEqual(world.mail.received.slice(-2), [
      'GET /api/principal?limit=50',
      'GET /api/principal?types=group&limit=50',
    ]);
  });

  it('comes in pages', async () => {
    for (const name of ['a', 'b', 'c']) await world.call('POST /api/principal', { type: 'list', name: `list-${name}` });
    const namesOf = async (query: string) => {
      const { data } = bodyOf(await world.call(`GET /api/principal?types=list&${query}`));
      const { items, total } = data as { items: { name: string }[]; total: number };
      return [items.map(({ name }) => name), total];
    };
    assert.deepEqual(await namesOf('limit=2'), [['list-a', 'list-b'], 3]);
    assert.deepEqual(await namesOf('limit=2&page=2'), [['list-c'], 3]);
  });

  it('takes no parameters but page, limit, filter and types', async () => {
    const before = world.mail.received.length;
    for (const query of [
      'fields=name',
      'count=1',
      'type=group',
      'tenant=x',
      'confirm=true',
      'limit=0',
      'limit=101',
      'page=0',
    ])
      assertRefusal(await world.call(`GET /api/principal?${query}`), 'validation_failed');
    for (const query of ['types=', 'types=group,nothing', 'types=other', 'types=group,group', 'types=group&types=list'])
      assertRefusal(await world.call(`GET /api/principal?${query}`), 'validation_failed');
    assert.equal(world.mail.received.length, before);
  });
});

describe('a caller without access', () => {
  const list = async (key: KeyOptions, line = 'GET /api/principal', body?: unknown) =>
    world.call(line, body, { Authorization: (await world.gateway.authorize(key)).authorization });

  it('is refused before the mail server gets a request', async () => {
    const before = world.mail.received.length;
    const scopes = ['mail:read', 'mail:write'];
    const refused = [
      await list({ organization: 'org_customer', scopes }),
      await list({ organization: 'org_customer', scopes: ['*'] }),
      await list({ ...OPERATOR, scopes: ['*'] }),
      await list({ ...OPERATOR, scopes: ['mail:write'] }),
      await list({ ...OPERATOR, scopes: ['mail:read'] }, 'POST /api/principal', { name: 'x' }),
      await list({ ...OPERATOR, scopes: ['mail:read'] }, 'DELETE /api/principal/x'),
    ];
    for (const answer of refused) assertRefusal(answer, 'insufficient_scope');
    assert.deepEqual(refused[0]?.error.required_scopes, ['mail:read']);
    assertRefusal(await list({ ...OPERATOR, mode: 'test' }), 'key_mode_mismatch');
    assert.equal(world.mail.received.length, before);
  });

  it('gets both challenges', async () => {
    const challenges = async (Authorization: string | undefined) => {
      const { status, lines, error } = await world.call('GET /api/principal', undefined, { Authorization });
      const values = lines.filter(([name]) => name.toLowerCase() === 'www-authenticate').map(([, value]) => value);
      assert.deepEqual(values, ['Bearer realm="localhost:8080"', 'Basic realm="localhost:8080", charset="UTF-8"']);
      return [status, error.code];
    };
    assert.deepEqual(await challenges(undefined), [401, 'api_key_missing']);
    assert.deepEqual(await challenges('Basic OTpx'), [401, 'basic_credentials_invalid']);
    assert.deepEqual(await challenges('Digest username="admin"'), [401, 'auth_scheme_unsupported']);
  });
});

describe('the request that reaches the mail server', () => {
  it('has the credential of the gateway and nothing of the caller', async () => {
    const heads: Record<string, unknown>[] = [];
    world.mail.server.server.on('request', ({ headers }) => heads.push(headers));
    const { authorization } = await world.gateway.authorize(OPERATOR);
    await world.call('GET /api/principal', undefined, { Authorization: authorization });
    await world.call('GET /api/principal');
    for (const headers of heads) {
      assert.equal(headers.authorization, world.administrator);
      for (const name of ['x-organization-id', 'x-api-key-id', 'x-gateway-assertion'])
        assert.equal(headers[name], undefined);
    }
    assert.equal(heads.length, 2);
  });
});
