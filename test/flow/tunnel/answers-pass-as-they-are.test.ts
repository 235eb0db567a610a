// An answer through a tunnel is the upstream's: status, headers, body. The gateway removes headers about connections, and adds headers that
// the upstream lacks.

import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, openConnection, requestOf } from '../../support/connection.ts';
import { httpAnswer, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { startBehind, startTunnel } from './mail-tunnel.ts';

const start = closesAfterEach();

async function setUp(listener: RequestListener, options = {}) {
  const behind = await start(startBehind());
  behind.plays(listener);
  const gateway = await start(startTunnel(behind.url, options));
  return {
    behind,
    gateway,
    call: (...request: Parameters<typeof requestOf>) => ask(gateway.port, requestOf(...request)),
  };
}

describe('an answer through a tunnel', () => {
  it('keeps any status, headers and body', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const { call } = await setUp((_request, response) => {
      response.writeHead(401, [
        ...['WWW-Authenticate', 'Bearer realm="Mail"', 'WWW-Authenticate', 'Basic realm="Mail"', 'Set-Cookie', 'a=1'],
        ...['Set-Cookie', 'b=2', 'Content-Type', 'application/problem+json', 'Server', 'theirs', 'X-Odd', 'caf\xe9'],
        ...['Access-Control-Allow-Origin', '*', 'Content-Length', '256'],
      ]);
      response.end(bytes);
    });
    const { status, headers, body, lines } = await call('GET /jmap/session');
    assert.equal(status, 401);
    assert.deepEqual(body, bytes);
    assert.equal(headers['www-authenticate'], 'Bearer realm="Mail", Basic realm="Mail"');
    assert.equal(lines.filter(([name]) => name === 'Set-Cookie').length, 2);
    assert.equal(headers['x-odd'], 'caf\xe9');
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.equal(headers['content-length'], '256');
  });

  it('carries the headers of every answer of the gateway, unless the upstream sets them', async () => {
    const { call } = await setUp((_request, response) => {
      response.writeHead(200, { 'Referrer-Policy': 'same-origin', 'X-Request-Id': 'theirs', 'X-Error-Code': 'theirs' });
      response.end();
    });
    const { headers } = await call('GET /jmap/session', { 'X-Request-Id': 'of-the-client' });
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'same-origin');
    assert.match(headers['content-security-policy'] ?? '', /default-src 'none'/);
    assert.match(headers['x-request-id'] ?? '', /^req_/);
    assert.equal(headers['x-client-request-id'], 'of-the-client');
    assert.equal(headers['x-error-code'], undefined);
  });

  it('keeps hop-by-hop headers on their connection', async () => {
    const { gateway } = await setUp((_request, response) => {
      response.writeHead(200, {
        Connection: 'close, X-Theirs',
        'X-Theirs': '1',
        'Alt-Svc': 'h3=":1"',
        'Content-Length': '2',
      });
      response.end('{}');
    });
    const connection = await start(openConnection(gateway.port));
    for (const time of ['first', 'second']) {
      connection.send(requestOf('GET /jmap/session'));
      const answer = await connection.answer();
      assert.equal(answer?.status, 200, time);
      assert.equal(answer.headers.connection, 'keep-alive');
      assert.equal(answer.headers['x-theirs'], undefined);
      assert.equal(answer.headers['alt-svc'], undefined);
    }
  });

  it('leads where clients can get to', async () => {
    let location = '';
    const { behind, call } = await setUp((_request, response) => response.writeHead(307, { location }).end());
    const cases = [
      ['/jmap/session', '/jmap/session'],
      [`${behind.url}/jmap/session?a=1#b`, '/jmap/session?a=1#b'],
      ['https://elsewhere.test/login', 'https://elsewhere.test/login'],
      ['session', 'session'],
    ];
    for (const [given, expected] of cases) {
      location = given as string;
      const answer = await call('GET /.well-known/jmap');
      assert.deepEqual([answer.status, answer.headers.location], [307, expected]);
    }
  });

  it('without a body has none, and the connection stays open', async () => {
    const { gateway } = await setUp((request, response) => {
      const status = Number(request.url?.slice('/jmap/'.length));
      response.writeHead(status, status === 204 ? {} : { 'content-length': '5', etag: '"x"' });
      response.end(request.method === 'HEAD' || status !== 200 ? undefined : 'hello');
    });
    const connection = await start(openConnection(gateway.port));
    for (const [line, status, length] of [
      ['HEAD /jmap/200', 200, '5'],
      ['GET /jmap/204', 204, undefined],
      ['GET /jmap/304', 304, '5'],
      ['GET /jmap/200', 200, '5'],
    ] as const) {
      connection.send(requestOf(line));
      const answer = await connection.answer({ hasBody: line === 'GET /jmap/200' });
      assert.deepEqual([answer?.status, answer?.headers['content-length']], [status, length], line);
    }
    assert.equal(connection.rest().length, 0);
  });

  it('has a length of our writing', async () => {
    let head = '';
    const { gateway } = await setUp((request, response) => {
      response.detachSocket(request.socket);
      request.socket.end(`${head}\r\n\r\n${request.method === 'HEAD' ? '' : 'hello'}`);
    });
    for (const [line, given] of [
      ['GET /jmap/session', 'HTTP/1.1 200 OK\r\nContent-Length: 0005'],
      ['HEAD /jmap/session', 'HTTP/1.1 200 OK\r\ncontent-length: 000000005'],
      ['GET /jmap/session', 'HTTP/1.1 404 Not Found\r\nContent-Length:\t 05 '],
    ] as const) {
      head = given;
      const connection = await start(openConnection(gateway.port));
      connection.send(requestOf(line));
      const answer = await connection.answer({ hasBody: line.startsWith('GET') });
      assert.equal(answer?.headers['content-length'], '5', given);
    }
  });

  it('in pieces is passed on piece by piece', async () => {
    let next = () => {};
    const { gateway } = await setUp((_request, response) => {
      response.write('one');
      next = () => response.end('two');
    });
    const connection = await start(openConnection(gateway.port));
    connection.send(requestOf('GET /jmap/download/a'));
    while (!connection.rest().includes('one')) await new Promise((resolve) => connection.socket.once('data', resolve));
    next();
    const answer = await connection.answer();
    assert.equal(answer?.body.toString(), 'onetwo');
    assert.equal(answer?.headers['transfer-encoding'], 'chunked');
  });

  it('reaches a client of HTTP/1.0 without chunks', async () => {
    const { gateway } = await setUp((_request, response) => {
      response.write('one');
      setTimeout(() => response.end('two'), 10);
    });
    const connection = await start(openConnection(gateway.port));
    connection.send('GET /jmap/session HTTP/1.0\r\n\r\n');
    const answer = await connection.answer();
    assert.equal(answer?.headers['transfer-encoding'], undefined);
    assert.equal(answer?.body.toString(), 'onetwo');
    assert.equal(await connection.closed, 'end');
  });

  it('that comes before the request is complete is delivered, and the connection ends', async () => {
    const { gateway } = await setUp((_request, response) => response.writeHead(413).end('too much'));
    const connection = await start(openConnection(gateway.port));
    connection.send(requestOf('POST /jmap/upload/a/', { 'Content-Length': '1000000' }), 'begin');
    const answer = await connection.answer();
    assert.deepEqual([answer?.status, answer?.body.toString(), answer?.headers.connection], [413, 'too much', 'close']);
    await connection.closed;
  });

  it('is taken from a kept connection that the upstream has closed meanwhile', async () => {
    const upstream = await start(startScriptedUpstream());
    const gateway = await start(startTunnel(upstream.url));
    upstream.plays((socket, request) => {
      socket.write(httpAnswer(200, '{}'));
      // A probe sent on this connection before is not repeated.
      upstream.plays((next) => (next === socket ? socket.destroy() : next.write(httpAnswer(200, request.slice(0, 3)))));
    });
    const call = (line: string) => ask(gateway.port, requestOf(line));
    assert.equal((await call('GET /jmap/session')).status, 200);
    const again = await call('GET /jmap/session');
    assert.deepEqual([again.status, again.body.toString()], [200, 'GET']);
    assert.equal(upstream.received.length, 3);
  });
});

describe('a page through a tunnel of the panel', () => {
  const options = {
    tunnel: { paths: ['/*'], hosts: ['panel'], webSocket: false, redirects: { '/admin': '/login' } },
    gateway: { publicUrl: 'http://api.test', hosts: { panel: 'panel.test' } },
  };

  it('is not kept from its own scripts, and cannot be framed', async () => {
    const { call } = await setUp((_request, response) => response.end('<html>'), options);
    const { status, headers } = await call('GET /login', { Host: 'panel.test' });
    assert.equal(status, 200);
    assert.equal(headers['content-security-policy'], "frame-ancestors 'none'");
    assert.equal(headers['x-content-type-options'], 'nosniff');
  });

  it('is found under the panel’s host only, with everything on it', async () => {
    const { behind, call } = await setUp((_request, response) => response.end('page'), options);
    for (const path of ['/', '/login', '/api/settings/list', '/v1/things', '/.well-known/jwks.json'])
      assert.equal((await call(`GET ${path}`, { Host: 'Panel.TEST.:8080' })).body.toString(), 'page', path);
    assert.equal(behind.requests.length, 5);
    for (const path of ['/', '/login', '/api/settings/list'])
      assert.equal((await call(`GET ${path}`, { Host: 'api.test' })).headers['x-error-code'], 'route_not_found');
    assert.equal((await call('GET /.well-known/jwks.json', { Host: 'api.test' })).status, 200);
    assert.equal((await call('GET /v1/things', { Host: 'api.test' })).headers['x-error-code'], 'api_key_missing');
    for (const host of ['other.test', '127.0.0.1', 'panel.test.api.test'])
      assert.equal((await call('GET /login', { Host: host })).headers['x-error-code'], 'misdirected_request', host);
    assert.equal(behind.requests.length, 5);
  });

  it('is led to by the path that documents name', async () => {
    const { behind, call } = await setUp((_request, response) => response.end('page'), options);
    for (const path of ['/admin', '/admin/']) {
      const answer = await call(`GET ${path}`, { Host: 'panel.test' });
      assert.deepEqual([answer.status, answer.headers.location], [302, '/login']);
    }
    assert.equal(behind.requests.length, 0);
  });
});
