// Refusals about the caller.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createApiKey } from '../../../gateway/auth/api-key.ts';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { mistyped } from '../../support/mistyped.ts';

/** A gateway with one upstream that has no address for test keys. */
type World = TestGateway;
type Case = RefusalCase<World>;

const list = (gateway: World, headers: Record<string, string | readonly string[]>, target = '/v1/things') =>
  ask(gateway.port, requestOf(`GET ${target}`, headers));
const withKey = (gateway: World, key: string) => list(gateway, { Authorization: `Bearer ${key}` });
const hasNoChallenge = ({ headers }: Answer) => assert.equal(headers['www-authenticate'], undefined);

const unusable: readonly Case[] = [
  { name: 'no credentials', code: 'api_key_missing', provoke: (gateway) => list(gateway, {}) },
  {
    name: 'a key in another header, as other gateways read it',
    code: 'api_key_missing',
    provoke: (gateway) => list(gateway, { 'X-API-Key': createApiKey('live', randomBytes) }),
    also({ error }, gateway) {
      assert.match(String(error.message), /^No credentials were sent\. .* The header X-API-Key is not read\.$/);
      assert.doesNotMatch(JSON.stringify(gateway.logLines()), /sk_live_\w{8}/);
    },
  },
  {
    name: 'an empty Authorization header',
    code: 'api_key_missing',
    provoke: (gateway) => list(gateway, { Authorization: '' }),
  },
  {
    name: 'another scheme',
    code: 'auth_scheme_unsupported',
    provoke: (gateway) => list(gateway, { Authorization: 'Basic dXNlcjpwYXNzd29yZA==' }),
  },
  {
    name: 'a key without "Bearer"',
    code: 'auth_scheme_unsupported',
    provoke: (gateway) => list(gateway, { Authorization: createApiKey('test', randomBytes) }),
    also({ error }, gateway) {
      assert.match(String(error.message), /Write "Bearer " before the key\.$/);
      assert.doesNotMatch(JSON.stringify([error, gateway.logLines()]), /sk_test_\w{8}/);
    },
  },
  {
    name: 'a key in the query',
    code: 'api_key_misplaced',
    provoke: (gateway) => list(gateway, {}, `/v1/things?q=${createApiKey('live', randomBytes)}`),
    also(_answer, gateway) {
      assert.doesNotMatch(JSON.stringify(gateway.logLines()), /sk_live_\w{8}/);
    },
  },
  {
    name: 'two Authorization lines',
    code: 'authorization_ambiguous',
    async provoke(gateway) {
      const { authorization } = await gateway.authorize();
      return list(gateway, { Authorization: [authorization, authorization] });
    },
  },
  {
    name: 'a key that was cut off',
    code: 'api_key_malformed',
    provoke: (gateway) => withKey(gateway, createApiKey('live', randomBytes).slice(0, -1)),
  },
  {
    name: 'a key with a typing mistake',
    code: 'api_key_malformed',
    provoke: (gateway) => withKey(gateway, mistyped(createApiKey('live', randomBytes))),
  },
  {
    name: 'a live key relabelled as a test key',
    code: 'api_key_malformed',
    provoke: (gateway) => withKey(gateway, createApiKey('live', randomBytes).replace('live', 'test')),
  },
  { name: 'Bearer without a token', code: 'api_key_malformed', provoke: (gateway) => withKey(gateway, '') },
];

const known: readonly Case[] = [
  {
    name: 'a well-formed key that was never issued',
    code: 'api_key_invalid',
    provoke: (gateway) => withKey(gateway, createApiKey('live', randomBytes)),
  },
  {
    name: 'a revoked key',
    code: 'api_key_revoked',
    async provoke(gateway) {
      const { id, key } = await gateway.issueKey();
      await gateway.store.keys.revoke(id, 'test', undefined);
      return withKey(gateway, key);
    },
  },
  {
    name: 'an expired key',
    code: 'api_key_expired',
    async provoke(gateway) {
      return withKey(gateway, (await gateway.issueKey({ expiresAtMs: Date.now() - 1 })).key);
    },
  },
  {
    name: 'a key of a suspended organization',
    code: 'account_inactive',
    async provoke(gateway) {
      const { key } = await gateway.issueKey({ organization: 'org_suspended' });
      await gateway.store.organizations.suspend('org_suspended', 'test');
      return withKey(gateway, key);
    },
    also: hasNoChallenge,
  },
  {
    name: 'a key without the scope of the operation',
    code: 'insufficient_scope',
    async provoke(gateway) {
      return withKey(gateway, (await gateway.issueKey({ scopes: ['things:write'] })).key);
    },
    also({ headers, error }) {
      assert.match(headers['www-authenticate'] ?? '', /, scope="things:read"$/);
      assert.deepEqual(error.required_scopes, ['things:read']);
    },
  },
  {
    name: 'a test key where there is no test mode',
    code: 'key_mode_mismatch',
    async provoke(gateway) {
      return withKey(gateway, (await gateway.issueKey({ mode: 'test' })).key);
    },
    also: hasNoChallenge,
  },
  {
    name: 'a key used from an address it does not allow',
    code: 'ip_not_allowed',
    async provoke(gateway) {
      return withKey(gateway, (await gateway.issueKey({ allowedCidrs: ['192.0.2.0/24'] })).key);
    },
    also: ({ body }) => assert.doesNotMatch(body.toString(), /192\.0\.2/),
  },
];

const storeAway: Case = {
  name: 'an unknown key while the key store is away',
  code: 'auth_unavailable',
  async provoke(gateway) {
    const known = await gateway.authorize();
    assert.equal((await list(gateway, known)).status, 200);
    const database = new DatabaseSync(join(gateway.dataDirectory, 'gateway.db'));
    database.exec('ALTER TABLE keys RENAME TO keys_elsewhere');
    try {
      const answer = await withKey(gateway, createApiKey('live', randomBytes));
      assert.equal((await list(gateway, known)).status, 200, 'known keys go on');
      return answer;
    } finally {
      database.exec('ALTER TABLE keys_elsewhere RENAME TO keys');
      database.close();
    }
  },
};

export const credentialCases: readonly Case[] = [...unusable, ...known, storeAway];
