// Cross-origin requests: off by default, per host, preflights answered by the gateway alone, refusals readable as well.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { createWorld } from '../../support/world.ts';

const APP = 'https://app.example.com';
const cors = {
  'api.example.com': { origins: [APP, 'http://localhost:5173'], maxAgeSeconds: 60 },
  'cookies.example.com': { origins: [APP], credentials: true },
  'open.example.com': { origins: ['*'] },
};
/** Two admitted requests, then the limit. */
const limits = { tiers: { standard: { requests: 2 } }, addresses: { failures: 2 } };

const world = await createWorld({ gateway: { cors }, limits });
after(() => world.close());

/** From a page of that origin, without a key unless one is given. */
function from(origin: string | undefined, line: string, host: string, headers: object = {}): Promise<Answer> {
  return ask(world.gateway.port, requestOf(line, { Host: host, Origin: origin, ...headers }));
}

const preflight = (origin: string, host: string, path = '/v1/things') =>
  from(origin, `OPTIONS ${path}`, host, {
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization, content-type',
  });
const grants = ({ headers }: Answer) => Object.keys(headers).filter((name) => name.startsWith('access-control-'));
const list = (value: string | undefined) => (value ?? '').split(', ').map((name) => name.toLowerCase());

describe('a preflight', () => {
  it('from a listed origin is granted, with everything named that a client may send', async () => {
    const answer = await preflight(APP, 'api.example.com');
    assert.equal(answer.status, 204);
    assert.equal(answer.headers['access-control-allow-origin'], APP);
    assert.equal(answer.headers['access-control-max-age'], '60');
    assert.equal(answer.headers.vary, 'Origin');
    assert.equal(answer.headers['access-control-allow-credentials'], undefined);
    assert.deepEqual(
      ['get', 'post', 'patch', 'delete'].filter(
        (method) => !list(answer.headers['access-control-allow-methods']).includes(method),
      ),
      [],
    );
    for (const name of ['authorization', 'content-type', 'idempotency-key', 'if-match']) {
      assert.ok(list(answer.headers['access-control-allow-headers']).includes(name), name);
    }
  });

  it('is granted for every spelling of the host', async () => {
    for (const host of ['api.example.com:8080', 'API.example.com', 'api.example.com.', 'api.example.com.:8080'])
      assert.equal((await preflight(APP, host)).headers['access-control-max-age'], '60', host);
  });

  it('from any other origin gets no grant, and neither does another spelling of a listed one', async () => {
    const strangers = ['https://evil.example', 'null', `${APP}.evil.example`, `${APP}/`, 'HTTPS://app.example.com'];
    for (const origin of [...strangers, 'http://app.example.com', `${APP}:444`, `${APP}, ${APP}`]) {
      const answer = await preflight(origin, 'api.example.com');
      assert.equal(answer.status, 204);
      assert.deepEqual(grants(answer), [], origin);
      assert.equal(answer.headers.vary, 'Origin');
    }
  });

  it('reaches no upstream, spends nothing and counts as no failure, for any requested method', async () => {
    const before = world.upstream.received.length;
    for (let i = 0; i < 10; i++) assert.equal((await preflight(APP, 'api.example.com', '/v1/nothing')).status, 204);
    assert.equal(world.upstream.received.length, before);
    const { status, headers } = await world.call('GET /v1/things', { Host: 'api.example.com', Origin: APP });
    assert.equal(status, 200);
    assert.equal(headers['x-ratelimit-remaining'], '1');
  });

  it('on a host without rules is an OPTIONS like any other', async () => {
    const answer = await preflight(APP, 'other.example.com');
    assert.equal(answer.status, 204);
    assert.deepEqual(grants(answer), []);
    assert.equal(answer.headers.vary, undefined);
    assert.match(answer.headers.allow ?? '', /POST/);
  });

  it('is held to the form of requests like everything else', async () => {
    const answer = await preflight(APP, 'api.example.com', '/v1/%2e%2e/things');
    assert.equal(answer.status, 400);
    assert.equal(answer.error.code, 'malformed_path');
    assert.equal(answer.headers['access-control-allow-origin'], APP);
  });
});

describe('an answer', () => {
  it('can be read by a page of a listed origin, with its limits and its request id', async () => {
    const answer = await world.call('GET /v1/things', {
      Host: 'API.example.com:8080',
      Origin: 'http://localhost:5173',
    });
    assert.equal(answer.headers['access-control-allow-origin'], 'http://localhost:5173');
    assert.equal(answer.headers.vary, 'Origin');
    const exposed = list(answer.headers['access-control-expose-headers']);
    const own = ['x-request-id', 'ratelimit', 'ratelimit-policy', 'x-ratelimit-remaining', 'retry-after'];
    for (const name of own) assert.ok(exposed.includes(name), name);
  });

  it('that is a refusal can be read as well: without a key, over the limit, at an unknown path', async () => {
    const refusals = [
      await from(APP, 'GET /v1/things', 'api.example.com'),
      await world.call('GET /v1/things', { Host: 'api.example.com', Origin: APP }),
      await from(APP, 'GET /nothing', 'api.example.com'),
    ];
    assert.deepEqual(
      refusals.map(({ status }) => status),
      [401, 429, 404],
    );
    for (const { headers } of refusals) assert.equal(headers['access-control-allow-origin'], APP);
  });

  it('varies by the origin even without an Origin in the request, for the sake of caches', async () => {
    assert.equal((await from(undefined, 'GET /v1/things', 'api.example.com')).headers.vary, 'Origin');
    assert.deepEqual(grants(await from(undefined, 'GET /v1/things', 'api.example.com')), []);
  });

  it('allows credentials only where that is configured, and never to every origin', async () => {
    const named = await from(APP, 'GET /nothing', 'cookies.example.com');
    assert.equal(named.headers['access-control-allow-credentials'], 'true');
    assert.equal(named.headers['access-control-allow-origin'], APP);
    const open = await from('https://anyone.example', 'GET /nothing', 'open.example.com');
    assert.equal(open.headers['access-control-allow-origin'], '*');
    assert.equal(open.headers['access-control-allow-credentials'], undefined);
    assert.equal(open.headers.vary, undefined);
  });

  it('of the published keys follows the same rules', async () => {
    const answer = await from(APP, 'GET /.well-known/jwks.json', 'api.example.com');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['access-control-allow-origin'], APP);
  });
});

describe('without configuration', () => {
  it('no page may read anything', async () => {
    const closed = await createWorld();
    try {
      const answer = await closed.call('GET /v1/things', { Origin: APP });
      assert.equal(answer.status, 200);
      assert.deepEqual(grants(answer), []);
      assert.equal(answer.headers.vary, undefined);
    } finally {
      await closed.close();
    }
  });

  it('of a host, the rules of * hold', async () => {
    const everywhere = await createWorld({ gateway: { cors: { '*': { origins: [APP] } } } });
    try {
      const answer = await everywhere.call('GET /v1/things', { Host: 'whatever.example', Origin: APP });
      assert.equal(answer.headers['access-control-allow-origin'], APP);
    } finally {
      await everywhere.close();
    }
  });
});
