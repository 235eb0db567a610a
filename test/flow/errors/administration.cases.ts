import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ask, requestOf } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { TestGateway } from '../../support/gateway.ts';

/** Keys that an organization of the gateway may have. */
export const KEYS_MAX = 4;

export const administrationCases: readonly RefusalCase<TestGateway>[] = [
  {
    name: 'a record of the gateway while its store is away',
    code: 'records_unavailable',
    async provoke(gateway) {
      const headers = { Authorization: (await gateway.authorize({ scopes: ['gateway:read'] })).authorization };
      const read = () => ask(gateway.port, requestOf('GET /gateway/v1/organization', headers));
      assert.equal((await read()).status, 200);
      const database = new DatabaseSync(join(gateway.dataDirectory, 'gateway.db'));
      database.exec('ALTER TABLE organizations RENAME TO organizations_elsewhere');
      try {
        return await read();
      } finally {
        database.exec('ALTER TABLE organizations_elsewhere RENAME TO organizations');
        database.close();
      }
    },
    also: ({ body }) => assert.doesNotMatch(body.toString(), /sqlite|table|organizations_/i),
  },
  {
    name: 'a key that would hold more than the key that makes it',
    code: 'grant_not_held',
    provoke: (gateway) =>
      withOwnKey(gateway, () => ['POST /gateway/v1/keys', JSON.stringify({ scopes: ['gateway:read', '*'] })]),
    also: ({ body }) => assert.match(body.toString(), /"required_scopes":\["\*"\]/),
  },
  {
    name: 'the revocation of the last key',
    code: 'last_key',
    provoke: (gateway) => withOwnKey(gateway, (id) => [`POST /gateway/v1/keys/${id}/revoke`, '{}']),
  },
  {
    name: 'one key more than an organization may have',
    code: 'too_many_keys',
    async provoke(gateway) {
      const scopes = ['gateway:read', 'gateway:keys'];
      const organization = `org_${randomUUID()}`;
      for (let more = 2; more < KEYS_MAX; more += 1) await gateway.issueKey({ organization });
      const { id, key } = await gateway.issueKey({ organization, scopes });
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      const wanted = '{"scopes":["gateway:read"]}';
      const call = (line: string, body: string) => ask(gateway.port, requestOf(line, headers, body));
      const atOnce = await Promise.all(Array.from({ length: 4 }, () => call('POST /gateway/v1/keys', wanted)));
      assert.deepEqual(atOnce.map(({ status }) => status).toSorted(), [201, 409, 409, 409]);
      // A leaked key can be replaced at any time.
      assert.equal(
        (await call(`POST /gateway/v1/keys/${id}/rotate?dry_run=true`, '{"overlap_seconds":0}')).status,
        201,
      );
      assert.equal((await call(`POST /gateway/v1/keys/${id}/rotate`, '{}')).status, 409);
      assert.equal((await call(`POST /gateway/v1/keys/${id}/rotate?dry_run=true`, '{}')).status, 409);
      assert.equal((await call('POST /gateway/v1/keys?dry_run=true', wanted)).status, 409);
      return call('POST /gateway/v1/keys', wanted);
    },
  },
];

async function withOwnKey(gateway: TestGateway, requestWith: (id: string) => readonly [line: string, body: string]) {
  const scopes = ['gateway:read', 'gateway:keys'];
  const { id, key } = await gateway.issueKey({ organization: `org_${randomUUID()}`, scopes });
  const [line, body] = requestWith(id);
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return ask(gateway.port, requestOf(line, headers, body));
}
