// Toward an upstream, a client's headers cross by an allow list, and only the gateway writes its own headers.

import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { headersOf } from '../../support/scripted-upstream.ts';
import { createWorld } from '../../support/world.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';

/** A contract that declares header parameters, harmless ones and the gateway's own. */
const declared = [
  'X-Region',
  'X_Organization_Id',
  'X-Organization-Id',
  'Authorization',
  'Cookie',
  'X-Forwarded-For',
  'Via',
];
const paths = {
  '/v1/declared': {
    get: {
      operationId: 'getDeclared',
      security: [{ apiKey: ['declared:read'] }],
      parameters: declared.map((name) => ({ name, in: 'header', schema: { type: 'string' } })),
      responses: { 200: { description: 'done', content: { 'application/json': { schema: { type: 'object' } } } } },
    },
  },
};

const world = await createWorld({}, {}, paths);
after(() => world.close());
beforeEach(() => {
  world.upstream.received.length = 0;
});

const arrived = () => headersOf(world.upstream.received.at(-1) ?? '');

describe('headers toward the upstream', () => {
  it('are exactly the allowed ones and those that the gateway writes', async () => {
    const allowed = {
      Accept: 'application/json',
      'Accept-Language': 'de',
      'If-Match': '"1"',
      'If-None-Match': '"2"',
      'If-Modified-Since': 'Fri, 20 Nov 2026 16:00:00 GMT',
      'If-Unmodified-Since': 'Fri, 20 Nov 2026 16:00:00 GMT',
      Prefer: 'return=minimal',
      'User-Agent': 'test/1',
      'Content-Type': 'application/json',
      'Idempotency-Key': 'k-1',
      // A stored answer goes to every client that repeats the key.
      'Accept-Encoding': 'identity',
    };
    const kept = {
      Cookie: 'a=b',
      Origin: 'https://a',
      Referer: 'https://a',
      'X-Region': 'eu',
      TE: 'trailers',
    };
    await world.call('POST /v1/things', { ...allowed, ...kept }, '{"name":"a"}');
    const own = [
      'x-request-id',
      'traceparent',
      'forwarded',
      'x-forwarded-for',
      'x-forwarded-proto',
      'x-forwarded-host',
      'via',
    ];
    const identity = ['x-organization-id', 'x-api-key-id', 'x-gateway-assertion'];
    const framing = ['host', 'connection', 'content-length'];
    const expected = [...Object.keys(allowed).map((name) => name.toLowerCase()), ...own, ...identity, ...framing];
    assert.deepEqual([...arrived().keys()].sort(), expected.sort());
    for (const [name, value] of Object.entries(allowed)) assert.equal(arrived().get(name.toLowerCase()), value);
  });

  it('include a declared header parameter where it is declared, unless the name is the gateway’s own', async () => {
    const sent = Object.fromEntries(declared.slice(0, 3).map((name) => [name, 'mine']));
    await world.call('GET /v1/declared', { ...sent, Cookie: 'mine', 'X-Forwarded-For': 'mine', Via: 'mine' });
    assert.equal(arrived().get('x-region'), 'mine');
    assert.equal([...arrived().values()].filter((value) => value === 'mine').length, 1);
    await world.call('GET /v1/things', sent);
    assert.equal(arrived().get('x-region'), undefined);
  });

  it('lose the headers that Connection names, before the gateway adds its own', async () => {
    await world.call('GET /v1/things', {
      Connection: 'x-request-id, Prefer, x-gateway-assertion',
      Prefer: 'a',
      Accept: '*/*',
    });
    assert.equal(arrived().get('prefer'), undefined);
    assert.equal(arrived().get('accept'), '*/*');
    assert.match(arrived().get('x-request-id') ?? '', /^req_/);
    assert.match(arrived().get('x-gateway-assertion') ?? '', /^ey/);
  });

  it('ask for no other protocol, even if the client asks for one', async () => {
    const wish = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'websocket', 'HTTP2-Settings': 'AAMAAABk' };
    assert.equal((await world.call('GET /v1/things', wish)).status, 200);
    assert.equal(arrived().get('upgrade'), undefined);
    assert.equal(arrived().get('http2-settings'), undefined);
    assert.equal(arrived().get('connection'), 'keep-alive');
  });

  it('name the caller, the request and the gateway', async () => {
    const answer = await world.call('GET /v1/things', { Host: 'api.example.com:8443' });
    const headers = arrived();
    assert.equal(headers.get('x-request-id'), answer.headers['x-request-id']);
    assert.equal(headers.get('x-organization-id'), 'org_test');
    assert.match(headers.get('x-api-key-id') ?? '', /^key_/);
    assert.match(headers.get('traceparent') ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/);
    assert.equal(headers.get('via'), '1.1 api-gateway');
    assert.equal(headers.get('x-forwarded-host'), 'api.example.com:8443');
    assert.equal(headers.get('forwarded'), 'for=127.0.0.1;proto=http;host="api.example.com:8443"');
  });

  it('leave out the host where the client named none', async () => {
    await ask(world.gateway.port, `GET /v1/things HTTP/1.0\r\nAuthorization: ${world.authorization}\r\n\r\n`);
    assert.equal(arrived().get('x-forwarded-host'), undefined);
    assert.equal(arrived().get('forwarded'), 'for=127.0.0.1;proto=http');
  });
});

describe("a client's User-Agent", () => {
  const marker = 'forged';
  const names = fc.constantFrom(
    ...['X-Organization-Id', 'X-Api-Key-Id', 'X-Gateway-Assertion', 'X-Gateway-Anything', 'X-Request-Id', 'Cookie'],
    'Authorization',
    ...['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'Forwarded', 'Via', 'Traceparent', 'Tracestate'],
    ...['Baggage', 'Proxy-Authorization', 'X-Original-URL', 'X-Rewrite-URL', 'X-HTTP-Method-Override', 'X-Real-IP'],
  );
  const spelled = fc
    .tuple(names, fc.infiniteStream(fc.boolean()), fc.constantFrom('-', '_'))
    .map(([name, flips, hyphen]) =>
      [...name.replaceAll('-', hyphen)]
        .map((letter) => (flips.next().value ? letter.toUpperCase() : letter.toLowerCase()))
        .join(''),
    );
  const lines = fc.array(spelled, { minLength: 1, maxLength: 5 });

  it('never reaches an upstream, in any spelling and any number', async () => {
    await fc.assert(
      fc.asyncProperty(lines, fc.constantFrom('/v1/things', '/v1/declared'), async (spellings, path) => {
        const request = requestOf(`GET ${path}`, { Authorization: world.authorization }).toString('latin1');
        const forged = spellings.map((name) => `${name}: ${marker}\r\n`).join('');
        const answer: Answer = await ask(world.gateway.port, request.replace('\r\n\r\n', `\r\n${forged}\r\n`));
        if (answer.status === 400)
          assert.match(String(answer.error.code), /^(malformed_http|authorization_ambiguous)$/);
        else assert.equal(answer.status, 200);
        const text = world.upstream.received.join('');
        assert.doesNotMatch(text, new RegExp(marker));
        assert.doesNotMatch(text, /sk_live_/);
      }),
      { numRuns: 70 * LIMIT_RUNS },
    );
  });
});

describe('a client’s own request id', () => {
  it('comes back under another name and never replaces the gateway’s', async () => {
    const answer = await world.call('GET /v1/things', { 'X-Request-Id': 'mine.1_2-3' });
    assert.equal(answer.headers['x-client-request-id'], 'mine.1_2-3');
    assert.match(answer.headers['x-request-id'] ?? '', /^req_/);
    assert.doesNotMatch(world.upstream.received.join(''), /mine/);
    const line = world.gateway.logLines().find(({ client_request_id }) => client_request_id === 'mine.1_2-3');
    assert.equal(line?.request_id, answer.headers['x-request-id']);
  });

  for (const id of ['a b', 'x'.repeat(129), '<script>', '']) {
    it(`is ignored if it is not harmless: ${JSON.stringify(id.slice(0, 10))}`, async () => {
      const answer = await world.call('GET /v1/things', { 'X-Request-Id': id });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['x-client-request-id'], undefined);
    });
  }
});
