// The published keys alone verify the assertion that an upstream receives; the assertion names the caller.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

describe('the assertion', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      gateway: { publicUrl: 'https://api.example.com' },
      upstreams: { crm: { contracts: ['items.yaml'], live: upstream.url, test: upstream.url } },
      contracts: {
        'items.yaml': {
          openapi: '3.1.1',
          info: { title: 'Items', version: '1' },
          paths: {
            '/v1/items': {
              get: {
                operationId: 'listItems',
                security: [{ key: ['items:read'] }],
                responses: { 200: { description: 'ok' } },
              },
            },
            '/v1/open': {
              get: { operationId: 'open', 'x-gateway-public': true, responses: { 200: { description: 'ok' } } },
            },
          },
          components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
        },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function claimsAfter(path: string, headers: Record<string, string>) {
    assert.equal((await fetch(gateway.url + path, { headers })).status, 200);
    const published = (await (await fetch(`${gateway.url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
    assert.ok(
      published.keys.every((key) => !('d' in key)),
      'only public halves are published',
    );
    const token = upstream.requests.at(-1)?.headers['x-gateway-assertion'] as string;
    assert.deepEqual(Object.keys(decodeProtectedHeader(token)).sort(), ['alg', 'kid', 'typ']);
    const { payload } = await jwtVerify(token, createLocalJWKSet(published), {
      algorithms: ['EdDSA'],
      issuer: 'https://api.example.com',
      audience: 'crm',
    });
    return payload;
  }

  it('names organization, tier, mode, scopes and key, and is good for at most a minute', async () => {
    const { id, key } = await gateway.issueKey({ mode: 'test', tier: 'premium', scopes: ['items:read'] });
    const { iat = 0, exp = 0, ...claims } = await claimsAfter('/v1/items', { authorization: `Bearer ${key}` });
    assert.deepEqual(claims, {
      iss: 'https://api.example.com',
      aud: 'crm',
      sub: id,
      org: 'org_test',
      tier: 'premium',
      mode: 'test',
      scopes: ['items:read'],
    });
    assert.ok(exp - iat <= 60);
    assert.equal(upstream.requests.at(-1)?.headers['x-organization-id'], 'org_test');
    assert.equal(upstream.requests.at(-1)?.headers['x-api-key-id'], id);
  });

  it('is the same for the next request of a caller, and another for another caller', async () => {
    const sent = () => upstream.requests.at(-1)?.headers['x-gateway-assertion'];
    const headers = await gateway.authorize();
    await claimsAfter('/v1/items', headers);
    const first = sent();
    await claimsAfter('/v1/items', headers);
    assert.equal(sent(), first);
    await claimsAfter('/v1/items', await gateway.authorize());
    assert.notEqual(sent(), first);
  });

  it('of a public operation names no caller', async () => {
    const claims = await claimsAfter('/v1/open', {});
    assert.deepEqual([claims.sub, claims.org, claims.tier], ['anonymous', undefined, undefined]);
    assert.equal(upstream.requests.at(-1)?.headers['x-organization-id'], undefined);
  });
});
