import assert from 'node:assert/strict';
import { test } from 'node:test';
import { securityHeadersFor } from '../../../gateway/edge/security-headers.ts';
import type { Admitted } from '../../../gateway/exchange/exchange.ts';
import { tunnelAnswerHeaders, tunnelRequestHeaders, upgradeHeaders } from '../../../gateway/tunnel/tunnel-headers.ts';

const sent = { host: 'upstream.test', isolate: false, traceparent: '00-1-2-03' };
const asking = (headers: Record<string, string>, more: Partial<Admitted> = {}) =>
  ({
    id: 'req_1',
    headers: new Map(Object.entries(headers)),
    clientAddress: '192.0.2.1',
    scheme: 'http',
    ...more,
  }) as Admitted;
const answered = (raw: string[], more: object = {}) => {
  const flat = tunnelAnswerHeaders({
    raw,
    status: 200,
    origin: 'http://up.test:1',
    commonHeaders: [],
    hasPages: false,
    ...more,
  });
  return flat.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${flat[index + 1]}`] : []));
};

test('the client’s address is sent in every form, and IPv6 as RFC 7239 requires it', () => {
  const headers = tunnelRequestHeaders(
    asking({ host: 'api.test' }, { clientAddress: '2001:db8::1', scheme: 'https' }),
    sent,
  );
  assert.equal(headers.forwarded, 'for="[2001:db8::1]";proto=https;host="api.test"');
  assert.equal(headers['x-forwarded-for'], '2001:db8::1');
  assert.equal(headers['x-forwarded-port'], '443');
  assert.equal(headers.host, 'upstream.test');
});

test('a request without Host sends none', () => {
  const headers = tunnelRequestHeaders(asking({}), sent);
  assert.equal(headers.forwarded, 'for=192.0.2.1;proto=http');
  assert.ok(!('x-forwarded-host' in headers));
});

test('a body keeps its framing, in one spelling', () => {
  const chunked = tunnelRequestHeaders(asking({ 'transfer-encoding': 'CHUNKED' }), sent);
  assert.equal(chunked['transfer-encoding'], 'chunked');
  assert.equal(tunnelRequestHeaders(asking({ 'content-length': '12' }), sent)['content-length'], '12');
});

test('no name of a client can be one that objects have anyway', () => {
  const headers = tunnelRequestHeaders(asking({ __proto__x: '1', constructor: '2', ['__proto__']: '3' }), sent);
  assert.equal(headers.constructor, '2');
  assert.equal(Object.getPrototypeOf(headers), null);
});

test('a name with underscores stays here, since some servers take them for hyphens', () => {
  const names = ['content_length', 'transfer_encoding', 'authorization_', 'x_forwarded_for', 'cookie_', 'x_a', '_'];
  const before = Object.keys(tunnelRequestHeaders(asking({}), sent));
  const headers = tunnelRequestHeaders(asking(Object.fromEntries(names.map((name) => [name, '1']))), sent);
  assert.deepEqual(Object.keys(headers), before);
});

test('an upgrade is spelled exactly so', () => {
  const headers = upgradeHeaders(asking({ connection: 'keep-alive, UPGRADE', upgrade: 'WebSocket' }), sent);
  assert.deepEqual([headers.connection, headers.upgrade], ['Upgrade', 'websocket']);
});

test('an answer keeps its lines and spelling, without the fields of its connection', () => {
  const raw = [
    'ETag',
    '"1"',
    'Set-Cookie',
    'a',
    'set-cookie',
    'b',
    'Connection',
    'X-A, close',
    'x-a',
    '1',
    'Keep-Alive',
    'x',
  ];
  assert.deepEqual(answered([...raw, 'Transfer-Encoding', 'chunked', 'Trailer', 'X', 'Proxy-Authenticate', 'Basic']), [
    ...['ETag: "1"', 'Set-Cookie: a', 'set-cookie: b'],
  ]);
});

test('the gateway’s headers of an exchange replace the upstream’s', () => {
  const raw = ['X-Request-Id', 'theirs', 'Access-Control-Allow-Origin', '*', 'Vary', 'Accept', 'X-Own', 'a'];
  const commonHeaders = ['X-Request-Id', 'ours', 'Vary', 'Origin', 'Access-Control-Allow-Origin', 'https://a.test'];
  assert.deepEqual(answered(raw, { commonHeaders }), [
    ...['Vary: Accept', 'X-Own: a', 'X-Request-Id: ours', 'Vary: Origin'],
    'Access-Control-Allow-Origin: https://a.test',
  ]);
});

const constant = securityHeadersFor('https://api.test');
const constantNames = constant.filter((_, index) => index % 2 === 0);

test('each constant header is sent once: as the upstream has set it, else as the gateway does', () => {
  const own = constantNames.flatMap((name) => [name.toLowerCase(), 'theirs']);
  assert.deepEqual(
    answered(own, { commonHeaders: constant }),
    constantNames.map((name) => `${name.toLowerCase()}: theirs`),
  );
  assert.deepEqual(
    answered([], { commonHeaders: constant }),
    constantNames.map((name, index) => `${name}: ${constant[index * 2 + 1]}`),
  );
});

test('a connection that becomes a WebSocket has no constant headers', () => {
  const commonHeaders = [...constant, 'X-Request-Id', 'ours'];
  assert.deepEqual(answered([], { status: 101, commonHeaders }), ['X-Request-Id: ours']);
});

test('locations at the upstream itself become paths, others stay', () => {
  const of = (value: string) => answered(['Location', value])[0];
  assert.equal(of('http://up.test:1/a?b#c'), 'Location: /a?b#c');
  assert.equal(of('HTTP://UP.test:1'), 'Location: /');
  for (const other of ['http://up.test/a', 'https://up.test:1/a', '/a', 'a/b', '//up.test:1/a', 'mailto:a@b'])
    assert.equal(of(other), `Location: ${other}`);
});

test('no length is announced where none can be', () => {
  assert.deepEqual(answered(['Content-Length', '5'], { status: 204 }), []);
  assert.deepEqual(answered(['Content-Length', '5'], { status: 304 }), ['Content-Length: 5']);
});

test('pages may load their own files, and no other page may frame them', () => {
  const commonHeaders = ['X-A', 'b', 'Content-Security-Policy', "default-src 'none'"];
  assert.deepEqual(answered([], { commonHeaders, hasPages: true }), [
    ...['X-A: b', "Content-Security-Policy: frame-ancestors 'none'"],
  ]);
});
