import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayFile } from '../../../gateway/config/gateway/gateway-file.ts';
import { keysAt } from '../../../gateway/config/schema-places.ts';
import { upstreamEntry, upstreamsFile } from '../../../gateway/config/upstreams/upstreams-file.ts';
import { limitsFile } from '../../../gateway/limits/settings.ts';

const entry = (members: object) => upstreamEntry.safeParse({ contracts: ['a.yaml'], live: 'http://a', ...members });

test('an address is a server, with a path or without one, or a service of the sandbox', () => {
  for (const live of [
    'http://a',
    'https://a:8443',
    'http://10.0.0.1:80/',
    'http://[::1]:80',
    'http://a/b',
    'sandbox:platform',
  ])
    assert.deepEqual(entry({ live }).data?.live, [live], live);
  for (const live of ['a:80', 'ftp://a', 'http://u:p@a', 'http://a?b', 'http://', 'sandbox:', 'http://a b', []])
    assert.ok(!entry({ live }).success, String(live));
});

test('several addresses share the load', () => {
  assert.deepEqual(entry({ live: ['http://a', 'http://b'] }).data?.live, ['http://a', 'http://b']);
});

test('trusted proxies are addresses and ranges of both families', () => {
  const parse = (range: string) => gatewayFile.safeParse({ trustedProxies: [range] }).success;
  for (const range of ['10.0.0.0/8', '127.0.0.1', '::1', 'fd00::/8', '0.0.0.0/0', '2001:db8::/128'])
    assert.ok(parse(range), range);
  for (const range of ['10.0.0.0/33', '256.0.0.1', '10.0.0', '::1/129', 'localhost', '10.0.0.0/8/8', ''])
    assert.ok(!parse(range), range);
});

test('the public address has no trailing slash', () => {
  assert.equal(gatewayFile.parse({ publicUrl: 'https://api.example.com/' }).publicUrl, 'https://api.example.com');
});

test('a base path begins with a slash and does not end with one', () => {
  for (const basePath of ['/v1', '/v1/billing', '/a.b~c_d-e']) assert.ok(entry({ basePath }).success, basePath);
  for (const basePath of ['v1', '/', '/v1/', '//v1', '/v 1', '/{x}']) assert.ok(!entry({ basePath }).success, basePath);
});

const issuer = { issuer: 'https://id.example', jwksUrl: 'https://id.example/jwks.json', audience: 'platform' };
const withIssuer = (own: object) => gatewayFile.safeParse({ issuers: { field: { ...issuer, ...own } } });

test('an issuer needs only name, keys and audience; its signing keys are never symmetric', () => {
  assert.deepEqual(withIssuer({}).data?.issuers.field?.algorithms, ['EdDSA', 'ES256']);
  assert.deepEqual(withIssuer({}).data?.issuers.field?.claims, { organization: 'org', scopes: 'scope' });
  for (const algorithm of ['HS256', 'none', 'eddsa', 'RSA-OAEP'])
    assert.ok(!withIssuer({ algorithms: [algorithm] }).success, algorithm);
  assert.ok(!withIssuer({ algorithms: [] }).success);
});

test('keys of an issuer are fetched over TLS, or from this machine', () => {
  for (const url of ['https://id.example/keys?v=1', 'http://127.0.0.1:3000/jwks', 'http://localhost/jwks'])
    assert.ok(withIssuer({ jwksUrl: url }).success, url);
  for (const url of ['http://id.example/jwks', 'https://user:word@id.example/', 'file:///etc/passwd', 'id.example', ''])
    assert.ok(!withIssuer({ jwksUrl: url }).success, url);
});

test('pages are let in by exact origins, on hosts by name', () => {
  const cors = (host: string, origins: readonly string[]) =>
    gatewayFile.safeParse({ cors: { [host]: { origins } } }).success;
  for (const origin of ['https://app.example.com', 'http://localhost:5173', '*'])
    assert.ok(cors('a.example', [origin]));
  for (const origin of [
    'https://app.example.com/',
    'https://APP.example.com',
    'app.example.com',
    'https://*.a',
    'null',
  ])
    assert.ok(!cors('a.example', [origin]), origin);
  assert.ok(!cors('a.example', []));
  for (const host of ['a.example:8080', 'A.example', 'https://a', '*.a', ''])
    assert.ok(!cors(host, ['https://a.example']), host);
});

test('nothing but tiers and upstreams has to be written', () => {
  assert.ok(gatewayFile.safeParse({}).success);
  const limits = limitsFile.parse({ tiers: { standard: { requests: 100 } } });
  assert.deepEqual(limits.tiers.standard, { requests: 100, windowSeconds: 60, enforce: true });
  assert.deepEqual(limits.addresses, { failures: 60, windowSeconds: 60 });
});

test('the known keys are found at every place, through defaults, lists and names', () => {
  assert.deepEqual(keysAt(upstreamsFile, []), ['upstreams', 'breaking']);
  assert.ok(keysAt(upstreamsFile, ['upstreams', 'any']).includes('timeoutMs'));
  assert.deepEqual(keysAt(upstreamsFile, ['upstreams', 'any', 'security']), [
    ...['apiKey', 'read', 'write', 'scopes', 'sessions'],
  ]);
  assert.ok(keysAt(gatewayFile, ['timeouts']).includes('drainMs'));
  assert.deepEqual(keysAt(limitsFile, ['operations', 'createJob']), ['extra', 'cost']);
  assert.ok(keysAt(upstreamsFile, ['upstreams', 'any', 'breaker']).includes('openSeconds'));
  assert.deepEqual(keysAt(gatewayFile, ['trustedProxies', 0, 'x']), []);
});
