// An upstream behind a tunnel that is dead, silent, broken or cut off: the client gets the one error object, or no answer that looks whole.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { httpAnswer, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { unusedPort } from '../../support/upstream.ts';
import { startBehind, startTunnel } from './mail-tunnel.ts';

const start = closesAfterEach();

async function setUp(options = {}) {
  const upstream = await start(startScriptedUpstream());
  const gateway = await start(startTunnel(upstream.url, { entry: { timeoutMs: 150 }, ...options }));
  return {
    upstream,
    gateway,
    call: (...request: Parameters<typeof requestOf>) => ask(gateway.port, requestOf(...request)),
  };
}

describe('an upstream that cannot answer', () => {
  it('is unreachable', async () => {
    const gateway = await start(startTunnel(`http://127.0.0.1:${await unusedPort()}`));
    for (const line of ['GET /jmap/session', 'POST /jmap']) {
      const answer = await ask(gateway.port, requestOf(line, {}, 'body'));
      assertRefusal(answer, 'upstream_unreachable');
      assert.equal(answer.headers['proxy-status'], 'api-gateway; error=connection_refused');
    }
    const line = gateway.logLines().find(({ code }) => code === 'upstream_unreachable');
    assert.match(String(line?.cause), /ECONNREFUSED/);
  });

  const scripts: Record<string, [code: string, answer: string | undefined]> = {
    'says nothing': ['upstream_timeout', undefined],
    'closes the connection': ['upstream_bad_response', ''],
    'speaks no HTTP': ['upstream_bad_response', 'SSH-2.0-Open\r\n\r\n'],
    'switches protocols unasked': [
      'upstream_bad_response',
      'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    ],
    'has two lengths': ['upstream_bad_response', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  };
  for (const [name, [code, text]] of Object.entries(scripts)) {
    it(`${name} → ${code}`, async () => {
      const { upstream, call } = await setUp();
      upstream.plays((socket) => {
        if (text === '') socket.destroy();
        else if (text !== undefined) socket.write(text);
      });
      assertRefusal(await call('POST /jmap', {}, '{}'), code);
    });
  }
});

describe('a connection on which a request failed', () => {
  it('serves another request after the rest of the body', async () => {
    const gateway = await start(startTunnel(`http://127.0.0.1:${await unusedPort()}`));
    const connection = await start(openConnection(gateway.port));
    connection.send(requestOf('POST /jmap', { 'Content-Length': '10' }), 'first');
    assert.equal((await connection.answer())?.headers['x-error-code'], 'upstream_unreachable');
    connection.send('after', requestOf('GET /v1/things'));
    assert.equal((await connection.answer())?.headers['x-error-code'], 'api_key_missing');
  });

  it('ends when it is unknown whether a body will come', async () => {
    const gateway = await start(startTunnel(`http://127.0.0.1:${await unusedPort()}`));
    const connection = await start(openConnection(gateway.port));
    connection.send(requestOf('POST /jmap', { 'Content-Length': '10', Expect: '100-continue' }));
    const answer = await connection.answer();
    assert.deepEqual([answer?.status, answer?.headers.connection], [502, 'close']);
    await connection.closed;
  });
});

describe('half an answer', () => {
  for (const [name, head] of Object.entries({
    'with a length': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf',
    'in chunks': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
  })) {
    it(`${name} never looks whole`, async () => {
      const { upstream, gateway } = await setUp();
      upstream.plays((socket) => {
        socket.write(head);
        setTimeout(() => socket.destroy(), 20);
      });
      for (const version of ['HTTP/1.1', 'HTTP/1.0']) {
        const connection = await start(openConnection(gateway.port));
        connection.send(`GET /jmap/download/a ${version}\r\nHost: api.test\r\n\r\n`);
        assert.equal(await connection.closed, 'reset', version);
      }
      const line = await until(() => gateway.logLines().find(({ code }) => code === 'upstream_bad_response'));
      assert.equal(line.level, 40);
    });
  }
});

describe('a body that stalls', () => {
  it('is the client’s fault while the upstream takes it', async () => {
    const behind = await start(startBehind());
    const ended = new Promise((resolve) => behind.plays((request) => request.resume().on('close', resolve)));
    const gateway = await start(startTunnel(behind.url, { entry: { timeoutMs: 150 } }));
    const connection = await start(openConnection(gateway.port));
    connection.send(requestOf('POST /jmap/upload/a/', { 'Content-Length': '100' }), 'begin');
    const answer = await connection.answer();
    assert.ok(answer);
    assertRefusal(answer, 'request_timeout');
    await ended;
    assert.equal(behind.requests[0]?.complete, false);
  });

  it('is the upstream’s fault when it does not take it', async () => {
    const behind = await start(startBehind());
    behind.plays(() => undefined);
    const gateway = await start(startTunnel(behind.url, { entry: { timeoutMs: 300 } }));
    const connection = await start(openConnection(gateway.port));
    connection.send(requestOf('POST /jmap/upload/a/', { 'Content-Length': '64000000' }), Buffer.alloc(64_000_000));
    const answer = await connection.answer();
    assert.ok(answer);
    assertRefusal(answer, 'upstream_timeout');
  });

  it('has no fixed time while its bytes arrive, unlike other requests', async () => {
    const behind = await start(startBehind());
    behind.plays((request, response) => request.resume().on('end', () => response.end('all')));
    const timeouts = { headersMs: 100, requestMs: 150 };
    const gateway = await start(startTunnel(behind.url, { entry: { timeoutMs: 300 }, gateway: { timeouts } }));
    const connection = await start(openConnection(gateway.port));
    connection.send(requestOf('POST /jmap/upload/a/', { 'Content-Length': '12' }));
    for (let sent = 0; sent < 12; sent++) {
      connection.send('x');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal((await connection.answer())?.body.toString(), 'all');
  });
});

describe('a client that leaves', () => {
  for (const begun of [false, true]) {
    it(`ends the upstream’s work ${begun ? 'in the middle of' : 'before'} the answer`, async () => {
      const { upstream, gateway } = await setUp();
      const ended = new Promise<void>((resolve) => {
        upstream.plays((socket) => {
          socket.on('close', () => resolve());
          if (begun) socket.write(httpAnswer(200, '{', { 'Content-Length': '2' }));
        });
      });
      const connection = await start(openConnection(gateway.port));
      connection.send(requestOf('GET /jmap/session'));
      if (begun) await new Promise((resolve) => connection.socket.once('data', resolve));
      else await until(() => upstream.received.length > 0);
      // A reset is seen at once; a client that closes is looked after half a second later, beyond this upstream's time.
      connection.socket.resetAndDestroy();
      await ended;
      const line = await until(() => gateway.logLines().at(-1));
      assert.deepEqual([line.status, line.code, line.level], [499, undefined, 30]);
    });
  }

  it('in the middle of its body never looks complete to the upstream', async () => {
    const behind = await start(startBehind());
    const complete = new Promise((resolve) => {
      behind.plays((request) => request.resume().on('close', () => resolve(request.complete)));
    });
    const gateway = await start(startTunnel(behind.url));
    const connection = await start(openConnection(gateway.port));
    connection.send(requestOf('POST /jmap', { 'Transfer-Encoding': 'chunked' }), '3\r\none\r\n');
    await until(() => behind.requests.length > 0);
    connection.destroy();
    assert.equal(await complete, false);
    const line = await until(() => gateway.logLines().at(-1));
    assert.deepEqual([line.status, line.level], [499, 30]);
  });
});
