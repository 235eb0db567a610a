// Header injection: a value that a client controls ends a header line early and begins another one, by CR and LF or by a NUL that some
// parser cuts at. It may come encoded in a path or a query and be decoded on the way, it may come back from an upstream in a Location, or
// it may be a quote that ends the quoted part of `Forwarded`. The defence is that no decoded value is ever written into a header line, and
// that every written value has been checked against the grammar of its place. Raw line ends are in the table (cases/heads.cases.ts), those
// of upstreams in cases/answers.cases.ts.

import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { ask } from '../support/connection.ts';
import { headersOf, httpAnswer } from '../support/scripted-upstream.ts';
import { createWorld } from '../support/world.ts';
import { LIMIT_RUNS } from '../unit/limits/scenarios.ts';

const world = await createWorld();
after(() => world.close());
beforeEach(() => {
  world.upstream.received.length = 0;
});

const breaks = ['%0d%0a', '%0a', '%0d', '%00', '%E5%98%8A%E5%98%8D', '%u000a', '\\r\\n'];

describe('a line end in client input', () => {
  for (const text of breaks) {
    it(`adds no header in a query: ${text}`, async () => {
      const answer = await world.call(`GET /v1/things?q=a${text}X-Injected:%20yes`);
      for (const request of world.upstream.received) assert.equal(headersOf(request).get('x-injected'), undefined);
      assert.equal(answer.headers['x-injected'], undefined);
      assert.ok(answer.status < 500);
    });

    it(`adds no header in a path: ${text}`, async () => {
      const answer = await world.call(`GET /v1/things/a${text}X-Injected:%20yes`);
      for (const request of world.upstream.received) assert.equal(headersOf(request).get('x-injected'), undefined);
      assert.equal(answer.headers['x-injected'], undefined);
    });
  }
});

describe('a quote in a value that the gateway quotes', () => {
  for (const version of ['1.0', '1.1']) {
    it(`adds nothing to Forwarded by Host over HTTP/${version}`, async () => {
      for (const host of ['a";for=192.0.2.1', 'a\\', 'a,for=192.0.2.1;host=b', 'a;for=192.0.2.1', 'a b']) {
        const head = `GET /v1/things HTTP/${version}\r\nHost: ${host}\r\nAuthorization: ${world.authorization}\r\n`;
        await ask(world.gateway.port, `${head}Connection: close\r\n\r\n`);
      }
      for (const request of world.upstream.received) {
        assert.match(headersOf(request).get('forwarded') ?? '', /^for=127\.0\.0\.1;proto=http;host="[^"\\]*"$/);
      }
    });
  }
});

describe("a line end in an upstream's answer", () => {
  it('in a code or a message stays inside the error object', async () => {
    const body = JSON.stringify({ error: { code: 'a\r\nX-Injected: yes', message: 'b\r\nX-Injected: yes' } });
    world.upstream.plays((socket) => socket.write(httpAnswer(400, body)));
    const answer = await world.call('GET /v1/things');
    assert.equal(answer.headers['x-injected'], undefined);
    assert.equal(answer.headers['x-error-code'], 'upstream_rejected');
  });
});

describe('an accepted header value', () => {
  const value = fc.stringMatching(/^[\t\x20-\x7e\x80-\xff]{0,40}$/);

  it('arrives as it was sent, on one line', async () => {
    world.upstream.plays((socket) => socket.write(httpAnswer(200, '{}')));
    await fc.assert(
      fc.asyncProperty(value, async (text) => {
        world.upstream.received.length = 0;
        const answer = await world.call('GET /v1/things', { Prefer: text });
        assert.equal(answer.status, 200);
        assert.equal(headersOf(world.upstream.received[0] ?? '').get('prefer') ?? '', text.trim());
      }),
      { numRuns: 30 * LIMIT_RUNS },
    );
  });
});
