// Toward a client, an upstream's headers cross by an allow list; caching is private, and no address of the inside gets out.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { SECRET } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld } from '../../support/world.ts';

const content = { 'application/json': { schema: { type: 'object' } } };
const own = ['X-Request-Id', 'RateLimit', 'Set-Cookie', 'Server', 'X-Internal-Node', 'Cache-Control'];
/** The gateway sets CORS headers and the replay marker itself, even if a contract declares them. */
const gatewaysAlone = [
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Credentials',
  'Original-Request-Id',
  'Allow',
];
const headers = Object.fromEntries(
  ['X-Total-Count', 'Content-Location', ...own, ...gatewaysAlone].map((name) => [name, { schema: { type: 'string' } }]),
);
const paths = {
  '/v1/declared': {
    get: {
      operationId: 'getDeclared',
      security: [{ apiKey: ['declared:read'] }],
      responses: { 200: { description: 'done', headers, content } },
    },
  },
  '/v1/open': {
    get: { operationId: 'getOpen', 'x-gateway-public': true, responses: { 200: { description: 'done', content } } },
  },
};

const world = await createWorld({}, {}, paths);
after(() => world.close());

async function answerWith(sent: Record<string, string | readonly string[]>, line = 'GET /v1/things', status = 200) {
  world.upstream.plays((socket) => socket.write(httpAnswer(status, '{}', sent)));
  return world.call(line);
}

describe('headers of an answer', () => {
  it('that describe the content cross as they are', async () => {
    const sent = {
      'Content-Language': 'de',
      'Content-Disposition': 'attachment; filename="a.json"',
      ETag: '"7"',
      'Last-Modified': 'Fri, 20 Nov 2026 16:00:00 GMT',
      Vary: 'Accept-Language',
      'X-Accel-Buffering': 'no',
      Link: '</v1/things?cursor=2>; rel="next"',
    };
    const answer = await answerWith(sent);
    for (const [name, value] of Object.entries(sent)) assert.equal(answer.headers[name.toLowerCase()], value);
  });

  const withheld = {
    Server: SECRET,
    'X-Powered-By': SECRET,
    'Set-Cookie': [SECRET, `${SECRET}=2`],
    'X-Internal-Node': SECRET,
    'WWW-Authenticate': `Basic realm="${SECRET}"`,
    'Proxy-Authenticate': 'Basic',
    RateLimit: SECRET,
    'RateLimit-Policy': SECRET,
    'X-RateLimit-Limit': '7777',
    'X-RateLimit-Remaining': '7777',
    'X-RateLimit-Reset': '7777',
    'X-Request-Id': SECRET,
    'X-Error-Code': SECRET,
    'X-Client-Request-Id': SECRET,
    'X-Whatever': SECRET,
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Credentials': SECRET,
    'Original-Request-Id': SECRET,
    Allow: SECRET,
    'Keep-Alive': 'timeout=7777',
    'Content-Security-Policy': SECRET,
  };
  for (const path of ['/v1/things', '/v1/declared']) {
    it(`of the inside stay there: ${path}`, async () => {
      const answer = await answerWith(withheld, `GET ${path}`);
      assert.equal(answer.status, 200);
      for (const [name, value] of answer.lines) assert.doesNotMatch(`${name}: ${value}`, /SECRET|7777|Basic|\*/);
      const names = answer.lines.map(([name]) => name.toLowerCase());
      assert.deepEqual(names, [...new Set(names)], 'no header twice, Date among them');
    });
  }

  it('cross if the contract declares them', async () => {
    assert.equal((await answerWith({ 'X-Total-Count': '7' }, 'GET /v1/declared')).headers['x-total-count'], '7');
    assert.equal((await answerWith({ 'X-Total-Count': '7' })).headers['x-total-count'], undefined);
  });

  it('stay here if Connection names them', async () => {
    const answer = await answerWith(
      { Connection: 'x-total-count, keep-alive', 'X-Total-Count': '7' },
      'GET /v1/declared',
    );
    assert.equal(answer.headers['x-total-count'], undefined);
  });

  it('have one spelling, also when the upstream sets them', async () => {
    const answer = await answerWith({ etag: '"1"', 'x-total-count': '1', LOCATION: '/v1/x' }, 'GET /v1/declared');
    for (const [name] of answer.lines) assert.match(name, /^[A-Z]/, name);
  });

  it('that may stand once are taken once', async () => {
    const answer = await answerWith({ ETag: ['"1"', '"2"'], Vary: ['A', 'B'], 'X-A': 'b' });
    assert.equal(answer.headers.etag, '"1"');
    assert.equal(answer.headers.vary, 'A, B');
  });

  it('include the gateway’s own on every answer', async () => {
    const answer = await answerWith({});
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.equal(answer.headers['referrer-policy'], 'no-referrer');
    assert.match(answer.headers['content-security-policy'] ?? '', /default-src 'none'/);
    assert.equal(answer.headers['strict-transport-security'], undefined, 'only where the public address is https');
  });
});

describe('Cache-Control of an answer', () => {
  const rules: readonly (readonly [string | undefined, string])[] = [
    [undefined, 'private, no-store'],
    ['no-store', 'no-store'],
    ['private, max-age=60', 'private, max-age=60'],
    ['public, max-age=60', 'private, max-age=60'],
    ['max-age=60, s-maxage=600', 'private, max-age=60'],
    ['PUBLIC', 'private'],
    ['max-age=600, must-revalidate', 'private, max-age=600, must-revalidate'],
    ['max-age=600', 'private, max-age=600'],
    ['no-cache', 'private, no-cache'],
    ['must-understand, no-store', 'private, must-understand, no-store'],
    ['max-age=60, Private', 'private, max-age=60'],
    ['no-cache="Set-Cookie", private="A, B", max-age=60', 'private, no-store'],
    ['', 'private, no-store'],
  ];
  for (const [given, expected] of rules) {
    it(`is ${expected} where the upstream sends ${given ?? 'none'}`, async () => {
      const answer = await answerWith(given === undefined ? {} : { 'Cache-Control': given });
      assert.equal(answer.headers['cache-control'], expected);
    });
  }

  it('is the upstream’s own on a public operation', async () => {
    const answer = await answerWith({ 'Cache-Control': 'public, max-age=60' }, 'GET /v1/open');
    assert.equal(answer.headers['cache-control'], 'public, max-age=60');
  });
});

describe('Location of an answer', () => {
  const places: readonly (readonly [string, string | undefined])[] = [
    ['/v1/things/7?a=b', '/v1/things/7?a=b'],
    ['http://things.internal:3000/v1/things/7', undefined],
    ['https://things.internal/v1/things/7', undefined],
    ['http://user@127.0.0.1/v1/things/7', undefined],
    ['javascript:alert(1)', undefined],
    ['', undefined],
    ['thi\tngs/7', undefined],
    ['//things.internal/v1/things/7', undefined],
    ['/\\things.internal/', undefined],
    // Relative to the address that the client called.
    ['things/7', 'things/7'],
    ['?page=2', '?page=2'],
    ['/\t/things.internal/', undefined],
  ];
  for (const [given, expected] of places) {
    it(`${expected ? 'crosses' : 'stays here'}: ${given}`, async () => {
      assert.equal((await answerWith({ Location: given })).headers.location, expected);
    });
  }
});

describe('an address of the service itself', () => {
  it('becomes a path, in each field', async () => {
    const { host } = new URL(world.upstream.url);
    const own = (path: string) => `${world.upstream.url}${path}`;
    const sent = {
      Location: `HTTP://${host.toUpperCase()}/v1/things/7?a=b`,
      Link: `<${own('/v1/things?cursor=2')}>; rel="next", <http://elsewhere.example/>; rel="prev"`,
      'Content-Location': own(''),
    };
    const answer = await answerWith(sent);
    assert.equal(answer.headers.location, '/v1/things/7?a=b');
    assert.equal(answer.headers.link, '</v1/things?cursor=2>; rel="next"');
    assert.equal(answer.headers['content-location'], '/');
    assert.equal((await answerWith({ Location: own('//evil.example/') })).headers.location, undefined);
    assert.equal((await answerWith({ Location: `http://${host}.evil.example/` })).headers.location, undefined);
  });

  it('is also one of the host that the client called, which the service may know by X-Forwarded-Host', async () => {
    world.upstream.plays((socket) => socket.write(httpAnswer(201, '{}', { Location: 'https://api.example.com/v1/x' })));
    const answer = await world.call('GET /v1/things', { Host: 'api.example.com' });
    assert.equal(answer.headers.location, '/v1/x');
  });
});

describe('Link of an answer', () => {
  const lines: readonly (readonly [string | readonly string[], string | undefined])[] = [
    ['</v1/things?cursor=2>; rel="next"', '</v1/things?cursor=2>; rel="next"'],
    ['<?cursor=2>; rel=next; title="a; b"', '<?cursor=2>; rel=next; title="a; b"'],
    ['<7>; rel=item, <./8>;rel=item', '<7>; rel=item, <./8>;rel=item'],
    ['<http://things.internal:3000/v1/things?cursor=2>; rel="next"', undefined],
    ['</v1/a>; rel=prev, <http://things.internal/b>; rel="next"', '</v1/a>; rel=prev'],
    ['<//things.internal/v1/things>; rel="next"', undefined],
    ['</\\things.internal/>; rel="next"', undefined],
    ['<\\\\things.internal/>; rel="next"', undefined],
    ['</\t/things.internal/>; rel="next"', undefined],
    ['< //things.internal/>; rel="next"', undefined],
    ['<HTTP:things.internal>; rel="next"', undefined],
    ['</v1/a>; rel=next; anchor="http://things.internal/"', undefined],
    ['</v1/a>; title="x, <http://things.internal/>; y"; rel=next', undefined],
    ['http://things.internal/', undefined],
    [
      ['</v1/a>; rel=prev', '<http://things.internal/>; rel=next', '</v1/b>; rel=last'],
      '</v1/a>; rel=prev, </v1/b>; rel=last',
    ],
  ];
  for (const [given, expected] of lines) {
    it(`${expected ?? 'stays here'}: ${given}`, async () => {
      assert.equal((await answerWith({ Link: given })).headers.link, expected);
    });
  }
});

describe('Content-Location of an answer', () => {
  it('crosses as a path', async () => {
    const ask = (value: string) => answerWith({ 'Content-Location': value });
    assert.equal((await ask('/v1/things/7')).headers['content-location'], '/v1/things/7');
    assert.equal((await ask('http://things.internal:3000/v1/things/7')).headers['content-location'], undefined);
  });
});

describe('answers without a body', () => {
  for (const status of [204, 304]) {
    it(`${status} has neither body nor length`, async () => {
      world.upstream.plays((socket) => socket.write(`HTTP/1.1 ${status} X\r\nETag: "1"\r\n\r\n`));
      const answer = await world.call('GET /v1/things');
      assert.equal(answer.status, status);
      assert.equal(answer.headers['content-length'], undefined);
      assert.equal(answer.headers['transfer-encoding'], undefined);
      assert.equal(answer.headers.etag, '"1"');
    });
  }

  it('HEAD runs as GET and keeps its headers', async () => {
    const received = world.upstream.received.length;
    const answer = await answerWith({ ETag: '"1"' }, 'HEAD /v1/things');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-length'], '2');
    assert.equal(answer.headers.etag, '"1"');
    assert.match(world.upstream.received[received] ?? '', /^GET \/v1\/things /);
  });
});
