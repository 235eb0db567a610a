// Headers and cookies that an entry names cross in both directions. All others are withheld, and each withheld one is reported.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { writeSound } from '../../config/faults.ts';
import { environmentOf } from '../../support/configuration.ts';
import { until } from '../../support/connection.ts';
import { runInProcess } from '../../support/in-process.ts';
import { headersOf, httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';

const content = { 'application/json': { schema: { type: 'object' } } };
const cookie = (name: string, schema: object = {}) => ({ name, in: 'cookie', schema: { type: 'string', ...schema } });
const paths = {
  '/v1/sessions': {
    get: {
      operationId: 'getSession',
      'x-gateway-public': true,
      parameters: [cookie('session', { maxLength: 8 }), cookie('theme')],
      responses: { 200: { description: 'done', content } },
    },
  },
};
const entry = {
  requestHeaders: ['X-Tenant', 'Accept'],
  responseHeaders: ['X-Process-Time', 'location'],
  cookies: ['session', 'csrf'],
};

describe('a header or cookie that an entry names', () => {
  let named: World;
  let plain: World;
  before(async () => {
    named = await createWorld({ gateway: { trustedProxies: ['127.0.0.1'] } }, entry, paths);
    plain = await createWorld({}, {}, paths);
  });
  after(async () => {
    await named.close();
    await plain.close();
  });
  beforeEach(() => {
    named.upstream.received.length = 0;
    plain.upstream.received.length = 0;
  });

  const reached = (world: World) => headersOf(world.upstream.received.at(-1) ?? '');
  async function answerWith(world: World, sent: Record<string, string | readonly string[]>, host = 'api.example.com') {
    world.upstream.plays((socket) => socket.write(httpAnswer(200, '{}', sent)));
    return world.call('GET /v1/sessions', { Host: host, 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '192.0.2.1' });
  }
  /** The log line, which is written once the answer is. */
  const lineOf = (world: World, answer: { headers: Record<string, string | undefined> }) =>
    until(() => world.gateway.logLines().find(({ request_id: id }) => id === answer.headers['x-request-id']));
  const cookiesOf = (answer: Awaited<ReturnType<typeof answerWith>>) =>
    answer.lines.flatMap(([name, value]) => (name === 'Set-Cookie' ? value : []));

  it('reaches the service: headers, once each', async () => {
    await named.call('GET /v1/sessions', { 'X-Tenant': 'acme', Accept: '*/*', 'X-Other': 'a' });
    assert.equal(reached(named).get('x-tenant'), 'acme');
    assert.equal(reached(named).get('x-other'), undefined);
    assert.equal(named.upstream.received.at(-1)?.match(/^accept:/gim)?.length, 1);
    await plain.call('GET /v1/sessions', { 'X-Tenant': 'acme' });
    assert.equal(reached(plain).get('x-tenant'), undefined);
  });

  it('reaches the service: of cookies with one name, declared or not, the first one, which is checked', async () => {
    const sent = 'other=1; session=abc; theme=dark; csrf="x"; session=much-too-long; broken';
    assert.equal((await named.call('GET /v1/sessions', { Cookie: sent })).status, 200);
    assert.equal(reached(named).get('cookie'), 'session=abc; csrf="x"');
    assert.equal((await named.call('GET /v1/sessions', { Cookie: 'session=much-too-long; session=a' })).status, 400);
    await named.call('GET /v1/sessions', { Cookie: 'other=1' });
    assert.equal(reached(named).get('cookie'), undefined);
  });

  it('reaches clients: headers, and addresses of other hosts', async () => {
    const sent = { 'X-Process-Time': '7', Location: 'https://storage.example/signed?x=1' };
    const answer = await answerWith(named, sent);
    assert.equal(answer.headers['x-process-time'], '7');
    assert.equal(answer.headers.location, 'https://storage.example/signed?x=1');
    const withheld = await answerWith(plain, sent);
    assert.deepEqual([withheld.headers['x-process-time'], withheld.headers.location], [undefined, undefined]);
  });

  it('reaches clients: cookies, made right for the public host', async () => {
    const answer = await answerWith(named, {
      'Set-Cookie': [
        'session=a; Path=/; Domain=sessions.internal; HttpOnly; SameSite=Lax',
        'csrf=b; Domain=.example.com; Secure; Max-Age=60',
        'other=c',
      ],
      'Cache-Control': 'public, max-age=60',
    });
    assert.deepEqual(cookiesOf(answer), [
      'session=a; Path=/; HttpOnly; SameSite=Lax; Secure',
      'csrf=b; Domain=.example.com; Secure; Max-Age=60',
    ]);
    assert.equal(answer.headers['cache-control'], 'private, max-age=60', 'no shared cache keeps a cookie');
    assert.deepEqual(cookiesOf(await answerWith(plain, { 'Set-Cookie': 'session=a' })), []);
  });

  it('is reported if it is withheld: in the log, by explain, and in the metrics', async () => {
    plain.upstream.plays((socket) =>
      socket.write(
        httpAnswer(200, '{}', {
          'X-Process-Time': '7',
          'Set-Cookie': ['session=secret', 'b ad=1'],
          Location: 'http://things.internal/secret-path',
          Server: 'uvicorn',
          'X-Powered-By': 'Express',
        }),
      ),
    );
    const answer = await plain.call('GET /v1/sessions', { Cookie: 'session=secret' });
    const line = await lineOf(plain, answer);
    assert.deepEqual(line.withheld, [
      'cookie: session',
      'x-process-time',
      'set-cookie: session',
      'set-cookie: *',
      'location',
    ]);
    assert.equal(line.level, 30);
    assert.doesNotMatch(JSON.stringify(line), /secret/);
    const { stdout } = await runInProcess(['explain', String(answer.headers['x-request-id'])], {
      environment: { ADMIN_PORT: new URL(plain.gateway.adminUrl).port, GATEWAY_DATA: plain.gateway.dataDirectory },
    });
    assert.match(stdout, /withheld: x-process-time\. To let it cross, .* add responseHeaders: \[x-process-time\]/);
    assert.match(stdout, /withheld: set-cookie: session\. .* add cookies: \[session\]/);
    assert.match(stdout, /withheld: location\. It names another host, .* add responseHeaders: \[location\]/);
    const metrics = await (await fetch(`${plain.gateway.adminUrl}/metrics`)).text();
    for (const kind of ['header', 'cookie', 'reference'])
      assert.match(
        metrics,
        new RegExp(`^gateway_upstream_withheld_total\\{upstream="things",kind="${kind}"\\} [1-9]`, 'm'),
      );
  });

  it('is not in the report of headers that the gateway replaces on every answer', async () => {
    const sent = { Server: 'uvicorn', 'X-Powered-By': 'Express', Date: 'x', 'X-Request-Id': 'a' };
    assert.equal((await lineOf(plain, await answerWith(plain, sent))).withheld, undefined);
  });

  it('is reported up to a bound, because the service chooses the names', async () => {
    const sent = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`X-${index}`, '1']));
    const { withheld } = await lineOf(plain, await answerWith(plain, sent));
    assert.equal((withheld as string[]).length, 16);
  });
});

describe('gateway check', () => {
  const document = (parameters: readonly object[]) => ({
    openapi: '3.1.1',
    info: { title: 'Sessions', version: '1' },
    paths: {
      '/a': {
        get: {
          operationId: 'getA',
          parameters,
          responses: { 200: { description: 'x', headers: { 'Set-Cookie': { schema: { type: 'string' } } } } },
        },
      },
    },
  });

  async function check(settings: string) {
    const directory = writeSound({
      'config/upstreams.yaml': `upstreams:\n  sessions:\n    contracts: [a.json]\n    live: http://127.0.0.1:9\n    public: true\n${settings}`,
      'config/limits.yaml': 'tiers: { standard: { requests: 100 } }\n',
      'openapi/a.json': JSON.stringify(document([cookie('session'), { ...cookie('X-Forwarded-Host'), in: 'header' }])),
    });
    const environment = { ...environmentOf(directory), GATEWAY_DATA: join(directory, 'data') };
    const { code, stdout, stderr } = await runInProcess(['check'], { environment });
    rmSync(directory, { recursive: true });
    return { code, text: stdout + stderr };
  }

  it('warns of headers that contracts declare and the entry does not let cross', async () => {
    const { code, text } = await check('');
    assert.equal(code, 0, text);
    assert.match(
      text,
      /upstreams\.yaml:2:\d+: .*cookie parameter "session" of getA does not reach .* Add cookies: \[session\]/,
    );
    assert.match(text, /header parameter "X-Forwarded-Host" of getA does not reach the service/);
    assert.match(text, /declares Set-Cookie for answers of getA/);
    assert.doesNotMatch((await check('    cookies: [session]\n')).text, /cookie/i);
  });

  it('refuses names that the gateway owns, and malformed names, with file and line', async () => {
    for (const [settings, reason] of [
      ['    requestHeaders: [authorization]\n', /upstreams\.yaml:6:\d+: .*requestHeaders.*does not set itself/],
      ['    requestHeaders: [X_Organization_Id]\n', /does not set itself/],
      ['    responseHeaders: [set-cookie]\n', /responseHeaders.*a list of their own, cookies/],
      ['    responseHeaders: [access-control-allow-origin]\n', /does not set itself/],
      ['    responseHeaders: ["a b"]\n', /must be the name of a header/],
      ['    cookies: ["a;b"]\n', /must be the name of a cookie/],
    ] as const) {
      const { code, text } = await check(settings);
      assert.equal(code, 1, settings);
      assert.match(text, reason);
    }
  });
});
