import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthPathOf } from '../../../../gateway/commands/init/propose-access.ts';
import { unmetRequirement, wantedCredential } from '../../../../gateway/commands/upstreams/wanted-credential.ts';

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

test('the credential of a document meets all schemes that it requires at once', () => {
  const securitySchemes = {
    unused: { type: 'http', scheme: 'bearer' },
    key: { type: 'apiKey', in: 'header', name: 'DD-API-KEY' },
    app: { type: 'apiKey', in: 'header', name: 'DD-APPLICATION-KEY' },
    basic: { type: 'http', scheme: 'basic' },
    query: { type: 'apiKey', in: 'query', name: 'key' },
  };
  const wanted = (...security: object[]) =>
    wantedCredential('dog', { root: { components: { securitySchemes }, security } });
  const { setting, value, asked } = wanted({ query: [] }, { key: [], basic: [] }, { key: [] }) ?? {};
  assert.equal(setting, '{ headers: { names: [DD-API-KEY, Authorization], secret: dog_headers } }');
  assert.equal(value, String.raw`$'DD-API-KEY: …\nAuthorization: Basic BASE64_OF_USER:PASSWORD'`);
  assert.equal(asked, 'a key in DD-API-KEY, and at once for a user name and a password');
  assert.equal(wanted({ key: [], app: [] })?.kind, 'apiKey dd-api-key + apiKey dd-application-key');
  assert.equal(wanted({ key: [], query: [] }, { app: [] })?.kind, 'apiKey dd-application-key');
  assert.equal(wanted({ basic: [], unused: [] }, { app: [] })?.kind, 'apiKey dd-application-key', 'one Authorization');
});

test('what the gateway cannot send is named', () => {
  const securitySchemes = {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    query: { type: 'apiKey', in: 'query', name: 'api_key' },
    cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
    digest: { type: 'http', scheme: 'digest' },
    tls: { type: 'mutualTLS' },
    login: { type: 'oauth2' },
  };
  const unmet = (security?: object[], operation?: object) =>
    unmetRequirement({ components: { securitySchemes }, ...(security && { security }) }, operation && { ...operation });
  assert.equal(unmet([{ query: [] }]), 'a key in the query, api_key');
  assert.equal(unmet([{ key: [], query: [] }]), 'a key in X-Key and a key in the query, api_key');
  assert.equal(unmet([{ cookie: [] }]), 'the cookie sid');
  assert.equal(unmet([{ digest: [] }]), 'credentials of the scheme digest');
  assert.equal(unmet([], { security: [{ tls: [] }] }), 'a client certificate');
  for (const sendable of [undefined, [], [{}], [{ query: [] }, { key: [] }], [{ login: [] }], [{ query: [] }, {}]])
    assert.equal(unmet(sendable), undefined, JSON.stringify(sendable));
});

test('of several credentials, all are proposed, or the most frequent if they are in one header', () => {
  const securitySchemes = {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    token: { type: 'http', scheme: 'bearer' },
    basic: { type: 'http', scheme: 'basic' },
  };
  const kindOf = (...lists: object[][]) => {
    const paths = Object.fromEntries(lists.map((security, index) => [`/${index}`, { get: { security } }]));
    return wantedCredential('a', { root: { components: { securitySchemes }, paths } })?.kind;
  };
  assert.equal(kindOf([{ key: [] }], [{ token: [] }], [{ token: [] }]), 'apiKey x-key + bearer');
  assert.equal(kindOf([{ key: [] }, { token: [] }], [{ token: [] }]), 'bearer', 'it serves both operations');
  assert.equal(kindOf([{ basic: [] }], [{ token: [] }], [{ token: [] }]), 'bearer');
  assert.equal(kindOf([{ token: [] }], [{ token: [] }], [{ key: [], token: [] }]), 'bearer + apiKey x-key');
});
