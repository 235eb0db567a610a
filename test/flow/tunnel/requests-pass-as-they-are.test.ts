// A tunnel passes methods, bodies and the mail user's own credentials unchanged. Headers about the caller come from the gateway.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { linesOf, startBehind, startTunnel } from './mail-tunnel.ts';

const start = closesAfterEach();

async function setUp(options = {}) {
  const behind = await start(startBehind());
  const gateway = await start(startTunnel(behind.url, options));
  return {
    behind,
    gateway,
    call: (...request: Parameters<typeof requestOf>) => ask(gateway.port, requestOf(...request)),
  };
}

describe('a request through a tunnel', () => {
  it('needs no key, and takes the client’s own credentials along', async () => {
    const { behind, call } = await setUp();
    const answer = await call('GET /jmap/session?a=1&b=%20', { Authorization: 'Basic dTpw', Cookie: ['a=1', 'b=2'] });
    assert.equal(answer.status, 200);
    const [request] = behind.requests;
    assert.ok(request);
    assert.equal(request.url, '/jmap/session?a=1&b=%20');
    assert.equal(request.headers.authorization, 'Basic dTpw');
    assert.equal(request.headers.cookie, 'a=1; b=2');
  });

  it('arrives with any method and body', async () => {
    const { behind, call } = await setUp();
    const bodies: string[] = [];
    behind.plays((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        bodies.push(`${request.method} ${body}`);
        response.end('done');
      });
    });
    for (const method of ['POST', 'PUT', 'PROPFIND', 'DELETE']) await call(`${method} /jmap/`, {}, `of ${method}`);
    await call('DELETE /jmap/');
    await call('OPTIONS /jmap/');
    await call('POST /jmap/', { 'Transfer-Encoding': 'chunked', 'Content-Length': undefined }, '3\r\none\r\n0\r\n\r\n');
    assert.deepEqual(bodies, [
      ...['POST of POST', 'PUT of PUT', 'PROPFIND of PROPFIND', 'DELETE of DELETE', 'DELETE ', 'OPTIONS '],
      'POST one',
    ]);
  });

  it('sends 100 Continue only when the upstream is connected', async () => {
    const { call } = await setUp();
    const answer = await call('POST /jmap', { Expect: '100-continue' }, 'body');
    assert.equal(answer.status, 100);
  });

  it('names the caller in headers of the gateway only', async () => {
    const { behind, call } = await setUp();
    const forged = {
      'X-Forwarded-For': '192.0.2.66',
      x_forwarded_for: '192.0.2.66',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'evil.test',
      'X-Forwarded-Port': '1',
      'X-Forwarded-Server': 'evil.test',
      'X-Real-IP': '192.0.2.66',
      'True-Client-IP': '192.0.2.66',
      Forwarded: 'for=192.0.2.66',
      Via: '1.1 evil',
      'X-Request-Id': 'mine',
      'X-Gateway-Assertion': 'forged',
      'X-Organization-Id': 'org_forged',
      'X-Api-Key-Id': 'key_forged',
      Traceparent: '00-11111111111111111111111111111111-1111111111111111-01',
    };
    const answer = await call('GET /jmap/session', { Host: 'api.test:8080', ...forged });
    const lines = linesOf(behind.requests[0] as never);
    assert.equal(lines.get('x-forwarded-for'), '127.0.0.1');
    assert.equal(lines.get('x-real-ip'), '127.0.0.1');
    assert.equal(lines.get('forwarded'), 'for=127.0.0.1;proto=http;host="api.test:8080"');
    assert.equal(lines.get('x-forwarded-proto'), 'http');
    assert.equal(lines.get('x-forwarded-host'), 'api.test:8080');
    assert.equal(lines.get('x-forwarded-port'), '8080');
    assert.equal(lines.get('via'), '1.1 api-gateway');
    assert.equal(lines.get('host'), new URL(behind.url).host);
    assert.equal(lines.get('x-request-id'), answer.headers['x-request-id']);
    assert.match(lines.get('traceparent') ?? '', /^00-(?!1{32})[0-9a-f]{32}-[0-9a-f]{16}-03$/);
    for (const name of ['x_forwarded_for', 'x-forwarded-server', 'true-client-ip', 'x-gateway-assertion'])
      assert.equal(lines.get(name), undefined, name);
    for (const name of ['x-organization-id', 'x-api-key-id']) assert.equal(lines.get(name), undefined, name);
  });

  it('keeps hop-by-hop headers on their connection', async () => {
    const { behind, call } = await setUp();
    const headers = { Connection: 'X-Mine, keep-alive', 'X-Mine': '1', 'Keep-Alive': 'timeout=1', TE: 'trailers' };
    const theirs = { Upgrade: 'h2c', 'HTTP2-Settings': 'AAA', 'Proxy-Authorization': 'Basic dTpw', 'X-Kept': '1' };
    const answer = await call('GET /jmap/session', { ...headers, ...theirs });
    assert.equal(answer.status, 200);
    const lines = linesOf(behind.requests[0] as never);
    for (const name of ['x-mine', 'te', 'upgrade', 'http2-settings', 'proxy-authorization'])
      assert.equal(lines.get(name), undefined, name);
    assert.equal(lines.get('connection'), 'keep-alive');
    assert.equal(lines.get('x-kept'), '1');
  });

  it('reaches nothing beside its paths', async () => {
    const { behind, call } = await setUp({ tunnel: { except: ['*.php*', '*/..*'] } });
    const beside = [
      '/jmapx',
      '/api/settings/list',
      '/jmap.php',
      '/%6amap/session',
      '/JMAP/session',
      '/jmap/x.PHP',
      '/jmap/%2Ephp',
    ];
    for (const path of beside) assertRefusal(await call(`GET ${path}`), 'route_not_found');
    for (const path of ['/jmap/../api/principal', '/jmap/%2e%2e/api', '/jmap//x', '/jmap/a%2fb', '/jmap/..%2fapi'])
      assertRefusal(await call(`GET ${path}`), 'malformed_path');
    assertRefusal(await call('GET /jmap/..well-known'), 'route_not_found');
    assert.equal(behind.requests.length, 0);
    assert.equal((await call('GET http://api.test/jmap/a%20b')).status, 200);
    assert.equal(behind.requests[0]?.url, '/jmap/a%20b');
  });

  it('leaves contract operations as they are', async () => {
    const { gateway, behind, call } = await setUp();
    assertRefusal(await call('GET /v1/things'), 'api_key_missing');
    assert.equal(behind.requests.length, 0);
    assert.equal((await call('GET /v1/things', await gateway.authorize())).status, 200);
    assert.equal(behind.requests[0]?.headers['x-organization-id'], 'org_test');
  });

  it('is logged with its upstream’s address, status and bytes, and without query and credentials', async () => {
    const { gateway, behind, call } = await setUp();
    behind.plays((request, response) => request.resume().on('end', () => response.end('twelve bytes')));
    await call('POST /jmap/?secret=marker-of-query', { Authorization: 'Basic bWFya2Vy' }, 'four');
    const line = gateway.logLines().find(({ msg }) => msg === 'exchange');
    assert.equal(line?.target, behind.url);
    assert.deepEqual([line?.status, line?.upstream_status, line?.bytes_in, line?.bytes_out], [200, 200, 4, 12]);
    assert.equal(line?.stage, 'forward');
    assert.doesNotMatch(JSON.stringify(gateway.logLines()), /marker-of-query|bWFya2Vy/);
  });
});
