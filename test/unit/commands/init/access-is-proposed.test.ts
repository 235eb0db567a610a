import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthPathOf } from '../../../../gateway/commands/init/propose-access.ts';
import { wantedCredential } from '../../../../gateway/commands/upstreams/wanted-credential.ts';

const paths = (...names: string[]) => ({
  root: { paths: Object.fromEntries(names.map((name) => [name, { get: {} }])) },
});
const schemes = (...all: object[]) => ({ root: { components: { securitySchemes: { ...all } } } });

test('the path of a health check comes from the document, below its servers', () => {
  assert.equal(healthPathOf(paths('/books', '/healthz')), '/healthz');
  assert.equal(
    healthPathOf({ root: { ...paths('/ready').root, openapi: '3.1.0', servers: [{ url: '/api' }] } }),
    '/api/ready',
  );
  for (const none of [
    paths('/books'),
    paths('/{tenant}/health'),
    { root: { paths: { '/health': { post: {} } } } },
    { root: {} },
  ])
    assert.equal(healthPathOf(none), undefined);
});

test('the credential of a document is the first that the gateway could send', () => {
  const key = { type: 'apiKey', in: 'header', name: 'X-API-Key' };
  const setting = (root: object) => wantedCredential('Tool-rental', { root: { ...root } })?.setting;
  const apiKey = '{ apiKey: { header: X-API-Key, secret: tool_rental_key } }';
  assert.equal(setting(schemes(key).root), apiKey);
  assert.equal(setting({ securityDefinitions: { key } }), apiKey);
  assert.equal(setting(schemes({ type: 'http', scheme: 'Bearer' }).root), '{ bearer: { secret: tool_rental_token } }');
  const basic = '{ basic: { user: gateway, secret: tool_rental_password } }';
  assert.equal(setting(schemes({ type: 'http', scheme: 'basic' }).root), basic);
  assert.equal(setting({ securityDefinitions: { one: { type: 'basic' } } }), basic);
  assert.equal(setting(schemes({ ...key, in: 'query' }, { ...key, in: 'cookie' }, key).root), apiKey);
  for (const name of ['Content-Length', 'Cookie', 'a b', 'X-Gateway-Assertion'])
    assert.equal(setting(schemes({ ...key, name }).root), undefined, name);
  assert.equal(setting(schemes({ type: 'oauth2' }, {}).root), undefined);
});
