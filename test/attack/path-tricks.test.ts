// Path tricks: a path is written so that the gateway checks one thing and the upstream serves another. `/v1/things/..%2fadmin` is one
// segment to a router that splits before it decodes, and a way up to a server that decodes first. Dot segments, doubled slashes,
// backslashes, matrix parameters (`;`), NUL, overlong UTF-8 and fragments all have servers that read them differently. The defence is
// to match on segments that are split first and decoded once, to refuse what others could read differently, and to send on a path that
// is built from the segments that were checked.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { ask, requestOf } from '../support/connection.ts';
import { createWorld, type World } from '../support/world.ts';

let world: World;
before(async () => {
  world = await createWorld();
});
after(() => world.close());
beforeEach(() => {
  world.upstream.received.length = 0;
});

const targetOf = (request: string | undefined) => request?.split(' ')[1];

describe('a path that could be read in two ways', () => {
  const malformed = [
    ...['/v1/things/a%2Fb', '/v1/things/a%2fb', '/v1/things%2Fa', '/v1/things/..%2F..%2Fadmin', '/v1/things/a%5Cb'],
    ...[
      '/v1/things/.',
      '/v1/things/..',
      '/v1/things/../orders',
      '/v1/./things',
      '/./v1/things',
      '/v1/things/%2e',
      '/v1/things/%2E%2e',
    ],
    ...[
      '/v1/things/.%2e/orders',
      '//v1/things',
      '/v1//things',
      '/v1/things//',
      '/v1/things/%00',
      '/v1/things/a%00.json',
    ],
    ...[
      '/v1/things/a;b=c',
      '/v1/things;a=b',
      '/v1;/things',
      '/v1/things/a\\b',
      '/v1\\things',
      '/v1/things/%',
      '/v1/things/%4',
    ],
    ...[
      '/v1/things/%zz',
      '/v1/things/%u002e',
      '/v1/things/%c0%ae',
      '/v1/things/%ff',
      '/v1/things/%ed%a0%80',
      '/v1/things/%0d%0aX:y',
    ],
    ...[
      '/v1/things/%7f',
      '/v1/things/%09',
      '/v1/things/a#b',
      '/v1/things#',
      '/v1/things?q=a#&limit=1',
      '/v1/things/a|b',
      '/v1/things/a"b',
    ],
    ...['/v1/things/<a>', '/v1/things/{id}', '/v1/things?q="', 'v1/things', '*', '?q=a', 'http:/v1/things'],
  ];
  for (const target of malformed) {
    it(`is refused: ${target}`, async () => {
      const answer = await world.call(`GET ${target}`);
      assert.equal(answer.status, 400);
      assert.match(String(answer.error.code), /^malformed_(path|http)$/);
      assert.deepEqual(world.upstream.received, []);
    });
  }
});

describe('a path that looks like a trick and is none', () => {
  const same: readonly (readonly [string, string])[] = [
    ['/v1/things/%252e%252e', '/v1/things/%252e%252e'],
    ['/v1/things/%252Fetc', '/v1/things/%252Fetc'],
    ['/v1/things/...', '/v1/things/...'],
    ['/v1/things/.hidden', '/v1/things/.hidden'],
    ['/v1/things/a%20b', '/v1/things/a%20b'],
    ['/v1/things/%41', '/v1/things/A'],
    ['/v1/%74hings/a', '/v1/things/a'],
    ['/v1/things/%E2%88%95', '/v1/things/%E2%88%95'],
    ['/v1/things/a:cancel', '/v1/things/a:cancel'],
  ];
  for (const [sent, expected] of same) {
    it(`is one segment, decoded once at most: ${sent}`, async () => {
      assert.equal((await world.call(`GET ${sent}`)).status, 200);
      assert.equal(targetOf(world.upstream.received[0]), expected);
    });
  }

  for (const target of ['/v1/%2574hings/a', '/V1/things', '/v1/things/', '/v1/THINGS']) {
    it(`is nothing that is served: ${target}`, async () => {
      assert.equal((await world.call(`GET ${target}`)).status, 404);
    });
  }
});

describe('the absolute form of a target', () => {
  it('is the same request, and its authority counts instead of Host', async () => {
    await world.call('GET http://api.example.com:81/v1/things?q=a', { Host: 'other.example.com' });
    assert.equal(targetOf(world.upstream.received.at(-1)), '/v1/things?q=a');
    assert.match(world.upstream.received.at(-1) ?? '', /^x-forwarded-host: api\.example\.com:81\r$/m);
    assert.doesNotMatch(world.upstream.received.at(-1) ?? '', /other/);
  });

  it('does not excuse a missing or broken authority', async () => {
    for (const target of [
      'http:///v1/things',
      'http://a b/v1/things',
      'http://a"b/v1/things',
      'http://u@a/v1/things',
      'ftp://a/v1/things',
    ]) {
      assert.equal((await world.call(`GET ${target}`)).status, 400, target);
    }
    const unnamed = requestOf('GET http://a/v1/things', { Host: undefined, Authorization: world.authorization });
    assert.equal((await ask(world.gateway.port, unnamed)).status, 400);
    assert.deepEqual(world.upstream.received, []);
  });

  it('opens no way past the rules of a path', async () => {
    for (const path of ['/v1/../admin', '//admin', '/v1/things/%2e%2e', '']) {
      const { status } = await world.call(`GET http://a${path}`);
      assert.ok(status === 400 || status === 404, `${path}: ${status}`);
    }
    assert.deepEqual(world.upstream.received, []);
  });
});

describe('any path', () => {
  const piece = fc.constantFrom(
    ...[
      '/',
      '//',
      '\\',
      '.',
      '..',
      '%2e',
      '%2E',
      '%2f',
      '%5c',
      '%00',
      '%25',
      ';',
      ':',
      '@',
      '?',
      '#',
      '%',
      'a',
      'v1',
      'things',
    ],
    ...[
      '%c0%ae',
      '%ef%bc%8f',
      '%e2%80%a8',
      '+',
      '&',
      '=',
      '*',
      '~',
      '%20',
      '%C3%A4',
      '..%2f',
      '.%00.',
      'http://',
      '[::1]',
    ],
  );

  it('that reaches the upstream is exactly the segments that were checked, to every reader', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        world.upstream.received.length = 0;
        const answer = await world.call(`GET /v1/things/${pieces.join('')}`);
        assert.ok(answer.status < 500, String(answer.status));
        for (const request of world.upstream.received) {
          const target = targetOf(request) ?? '';
          const [path = ''] = target.split('?');
          // What a browser, a proxy or a framework would make of it is the same path.
          assert.equal(new URL(target, 'http://upstream').pathname, path);
          const decoded = path.split('/').map(decodeURIComponent);
          assert.ok(decoded.length === 3 || decoded.length === 4);
          assert.deepEqual(decoded.slice(0, 3), ['', 'v1', 'things']);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
          for (const segment of decoded.slice(1)) assert.doesNotMatch(segment, /^\.{0,2}$|[/\\\x00-\x1f]/);
        }
      }),
      { numRuns: 200 },
    );
  });
});
