// A WebSocket through a tunnel: every byte of either side reaches the other one in its order, and so does every way to end.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import type { KeyOptions } from '../../support/gateway.ts';
import { unusedPort } from '../../support/upstream.ts';
import { linesOf, startBehind, startTunnel, type TunnelOptions } from './mail-tunnel.ts';
import { frame, HANDSHAKE, headOf, nextWebSocket, openWebSocket } from './open-ends.ts';

const start = closesAfterEach();
const HOUR_MS = 3_600_000;

async function setUp(options = {}) {
  const behind = await start(startBehind());
  const gateway = await start(startTunnel(behind.url, options));
  return { behind, gateway };
}

async function setUpOpen(options = {}) {
  const { behind, gateway } = await setUp(options);
  const granted = nextWebSocket(behind);
  const client = await start(openWebSocket(gateway.port));
  const head = await headOf(client);
  return { behind, gateway, client, upstream: await granted, head };
}

const asked = (lines: readonly string[] = HANDSHAKE) =>
  Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));

describe('the handshake', () => {
  it('is spelled as the strictest server requires, and names the caller in headers of the gateway only', async () => {
    const { behind, head } = await setUpOpen();
    const lines = linesOf(behind.requests[0] as never);
    assert.equal(lines.get('connection'), 'Upgrade');
    assert.equal(lines.get('upgrade'), 'websocket');
    assert.equal(lines.get('sec-websocket-protocol'), 'jmap');
    assert.equal(lines.get('x-forwarded-for'), '127.0.0.1');
    assert.equal(lines.get('host'), new URL(behind.url).host);
    assert.match(head, /^HTTP\/1\.1 101 Switching Protocols\r\n/);
    assert.match(head, /\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n/);
    assert.match(head, /\r\nSec-WebSocket-Accept: x\r\n/i);
    assert.match(head, /\r\nX-Request-Id: req_/);
  });

  it('has no length, which its answer must not have', async () => {
    const { behind, gateway } = await setUp();
    const fields = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\nContent-Length: 05';
    behind.upgrades((_request, socket) => socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n\r\n`));
    const client = await start(openWebSocket(gateway.port, '/jmap/ws'));
    assert.doesNotMatch(await headOf(client), /content-length/i);
  });

  it('loses nothing that either side sends along with it', async () => {
    const { behind, gateway } = await setUp();
    const granted = nextWebSocket(behind, frame(1, 'early answer'));
    const client = await start(openWebSocket(gateway.port, '/jmap/ws', HANDSHAKE, frame(1, 'early question')));
    const upstream = await granted;
    assert.deepEqual(await upstream.takes(16), frame(1, 'early question'));
    await headOf(client);
    assert.deepEqual(await client.takes(14), frame(1, 'early answer'));
  });
});

describe('a WebSocket', () => {
  it('carries frames of every kind and size untouched, both ways', async () => {
    const { client, upstream } = await setUpOpen();
    const parts = [frame(1, 'be', false), frame(9, 'ping'), frame(0, 'gun')];
    const bytes = Buffer.concat([...parts, frame(2, randomBytes(200_000)), frame(2, randomBytes(300)), frame(10, '')]);
    client.socket.write(bytes);
    assert.deepEqual(await upstream.takes(bytes.length), bytes);
    upstream.socket.write(bytes);
    assert.deepEqual(await client.takes(bytes.length), bytes);
  });

  it('keeps close codes, and stays open in the direction that is not closed', async () => {
    const { client, upstream } = await setUpOpen();
    const close = frame(8, Buffer.from([0x0f, 0xa1, ...Buffer.from('mine')]));
    upstream.socket.end(close);
    assert.deepEqual(await client.takes(close.length), close);
    await client.ended;
    client.socket.write(close);
    assert.deepEqual(await upstream.takes(close.length), close);
    client.socket.end();
    await Promise.all([upstream.ended, upstream.closed, client.closed]);
  });

  it('ends upstream first where the client ends first', async () => {
    const { client, upstream } = await setUpOpen();
    client.socket.end(frame(8, ''));
    await upstream.ended;
    assert.deepEqual(await upstream.takes(2), frame(8, ''));
    upstream.socket.end(frame(8, ''));
    assert.deepEqual(await client.takes(2), frame(8, ''));
    await Promise.all([upstream.closed, client.closed]);
  });

  for (const [gone, left] of [
    ['client', 'upstream'],
    ['upstream', 'client'],
  ] as const) {
    it(`is over for the ${left} when the ${gone} is gone`, async () => {
      const opened = await setUpOpen();
      opened[gone].socket.resetAndDestroy();
      await opened[left].ended;
      opened[left].socket.end();
      await opened[left].closed;
      await until(() => opened.behind.sockets.size === 0);
    });
  }

  it('waits for a side that does not read, instead of filling memory', async () => {
    const { client, upstream } = await setUpOpen();
    client.socket.pause();
    const before = process.memoryUsage().arrayBuffers;
    const piece = Buffer.alloc(1_048_576);
    let sent = 0;
    const send = () => {
      while (sent < 64 && upstream.socket.write(piece)) sent++;
    };
    upstream.socket.on('drain', send);
    send();
    for (let last = -1; sent !== last; ) {
      last = sent;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.ok(sent < 32, `${sent} MB were taken`);
    assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1_048_576);
  });

  it('outlasts every time-out while both sides are silent', async () => {
    const timeouts = { headersMs: 500, requestMs: 500, keepAliveMs: 500 };
    const { client, upstream } = await setUpOpen({ entry: { timeoutMs: 500 }, gateway: { timeouts } });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    client.socket.write(frame(1, 'still here'));
    assert.deepEqual(await upstream.takes(12), frame(1, 'still here'));
    upstream.socket.write(frame(1, 'me too'));
    assert.deepEqual(await client.takes(8), frame(1, 'me too'));
  });

  it('is one line of the log, with its bytes and messages', async () => {
    const { client, upstream, gateway, behind } = await setUpOpen();
    client.socket.write(frame(1, 'four'));
    await upstream.takes(6);
    upstream.socket.end(frame(1, 'eight...'));
    client.socket.end();
    await client.closed;
    const line = await until(() => gateway.logLines().find(({ status }) => status === 101));
    assert.deepEqual([line.target, line.bytes_in, line.bytes_out, line.code], [behind.url, 6, 10, undefined]);
  });
});

describe('a WebSocket whose client shows a key of the gateway', () => {
  async function setUpKnown(options: KeyOptions = {}, tunnel: TunnelOptions = {}) {
    const { behind, gateway } = await setUp(tunnel);
    const { id, key } = await gateway.issueKey(options);
    const granted = nextWebSocket(behind);
    const open = (credential: string) =>
      openWebSocket(gateway.port, '/jmap/ws', [...HANDSHAKE, `Authorization: ${credential}`]);
    const client = await start(open(`Bearer ${key}`));
    await headOf(client);
    const upstream = await granted;
    client.socket.write(frame(1, 'four'));
    assert.deepEqual(await upstream.takes(6), frame(1, 'four'));
    return { behind, gateway, id, key, client, upstream, open };
  }

  /** 1008: policy violation. */
  const notAllowed = Buffer.from([0x88, 0x02, 0x03, 0xf0]);

  it('ends when the key is revoked, and other WebSockets stay open', async () => {
    const { behind, gateway, id, client, upstream, open } = await setUpKnown();
    const others = [];
    for (const credential of ['Basic dTpw', 'Bearer of-the-service', `Bearer ${(await gateway.issueKey()).key}`]) {
      const granted = nextWebSocket(behind);
      const other = await start(open(credential));
      await headOf(other);
      others.push({ other, theirs: await granted });
    }
    await gateway.store.keys.revoke(id, 'test', undefined);
    assert.deepEqual(await client.takes(4), notAllowed);
    await Promise.all([client.ended, upstream.ended]);
    const line = await until(() => gateway.logLines().find(({ stream_end }) => stream_end === 'credential'));
    assert.equal(line.status, 101);
    for (const { other, theirs } of others) {
      theirs.socket.write(frame(1, 'still'));
      assert.deepEqual(await other.takes(7), frame(1, 'still'));
    }
  });

  it('ends when the organization is suspended', async () => {
    const { gateway, client } = await setUpKnown();
    await gateway.store.organizations.suspend('org_test', 'test');
    assert.deepEqual(await client.takes(4), notAllowed);
  });

  it('ends when the key expires', async () => {
    let aheadMs = 0;
    const { client } = await setUpKnown({ expiresAtMs: Date.now() + HOUR_MS }, { now: () => Date.now() + aheadMs });
    aheadMs = HOUR_MS;
    assert.deepEqual(await client.takes(4), notAllowed);
  });
});

describe('an upgrade that is not granted', () => {
  it("is answered with the upstream's whole answer", async () => {
    const { behind, gateway } = await setUp();
    const body = 'x'.repeat(3_000_000);
    behind.upgrades((_request, socket) => {
      const head =
        'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="Mail"\r\nConnection: close, X-A\r\nX-A: 1';
      socket.end(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    const answer = await ask(gateway.port, requestOf('GET /jmap/ws', asked()));
    assert.equal(answer.status, 401);
    assert.equal(answer.body.length, body.length);
    assert.equal(answer.headers['www-authenticate'], 'Basic realm="Mail"');
    assert.equal(answer.headers['x-a'], undefined);
    assert.equal(answer.headers.connection, 'close');
    assert.match(answer.headers['x-request-id'] ?? '', /^req_/);
    const line = await until(() => gateway.logLines().find(({ status }) => status === 401));
    assert.equal(line.bytes_out, body.length);
  });

  for (const fields of ['Upgrade: foo', 'Upgrade: websocket, foo', 'X-Upgrade: websocket']) {
    it(`is refused when the upstream switches to something else: ${fields}`, async () => {
      const { behind, gateway } = await setUp();
      behind.upgrades((_request, socket) => {
        socket.on('end', () => socket.end()).resume();
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n${fields}\r\n\r\nother bytes`);
      });
      const answer = await ask(gateway.port, requestOf('GET /jmap/ws', asked()));
      assertRefusal(answer, 'upstream_bad_response');
      assert.doesNotMatch(answer.body.toString(), /other bytes/);
      await until(() => behind.sockets.size === 0 || undefined);
    });
  }

  it('is refused in words when the upstream is dead, silent, or cuts the connection', async () => {
    const dead = await start(startTunnel(`http://127.0.0.1:${await unusedPort()}`));
    assertRefusal(await ask(dead.port, requestOf('GET /jmap/ws', asked())), 'upstream_unreachable');
    const { behind, gateway } = await setUp({ entry: { timeoutMs: 100 } });
    behind.upgrades(() => undefined);
    assertRefusal(await ask(gateway.port, requestOf('GET /jmap/ws', asked())), 'upstream_timeout');
    behind.upgrades((_request, socket) => socket.destroy());
    assertRefusal(await ask(gateway.port, requestOf('GET /jmap/ws', asked())), 'upstream_bad_response');
    behind.upgrades((_request, socket) => socket.end('no HTTP\r\n\r\n'));
    assertRefusal(await ask(gateway.port, requestOf('GET /jmap/ws', asked())), 'upstream_bad_response');
    const codes = gateway.logLines().flatMap(({ code }) => (code === undefined ? [] : [code]));
    assert.deepEqual(codes, ['upstream_timeout', 'upstream_bad_response', 'upstream_bad_response']);
  });

  it('is refused where framing and path are judged, as any request', async () => {
    const { behind, gateway } = await setUp();
    const call = (line: string, headers: object = {}) =>
      ask(gateway.port, requestOf(line, { ...asked(), ...headers } as never));
    assertRefusal(await call('GET /jmap/../ws'), 'malformed_path');
    assertRefusal(await call('GET /jmap/ws', { Host: ['a.test', 'b.test'] }), 'malformed_http');
    assertRefusal(
      await call('GET /jmap/ws', { Authorization: ['Basic dTpw', 'Basic dTpw'] }),
      'authorization_ambiguous',
    );
    assert.equal(behind.requests.length, 0);
  });

  it('is let go when the client leaves before there is an answer', async () => {
    const { behind, gateway } = await setUp();
    const asking = new Promise<void>((resolve) => {
      behind.upgrades((_request, socket) => {
        socket.resume().on('end', resolve);
      });
    });
    const client = await start(openWebSocket(gateway.port));
    await until(() => behind.requests.length > 0);
    client.destroy();
    await asking;
    const line = await until(() => gateway.logLines().find(({ status }) => status === 499));
    assert.equal(line.code, undefined);
  });
});

describe('a request with an Upgrade where that is not possible', () => {
  it('is served as if it had no Upgrade', async () => {
    const { behind, gateway } = await setUp({ tunnel: { paths: ['/jmap/*'], webSocket: false } });
    const call = (line: string, headers = asked()) => ask(gateway.port, requestOf(line, headers));
    assert.equal((await call('GET /jmap/ws')).status, 200);
    assert.equal(behind.requests[0]?.headers.upgrade, undefined);
    assertRefusal(await call('GET /v1/things'), 'api_key_missing');
    assertRefusal(await call('GET /nowhere'), 'route_not_found');
  });

  it('is served so for other protocols and methods, bodies, and behind an unanswered request', async () => {
    const { behind, gateway } = await setUp();
    const h2c = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAA' };
    for (const [line, headers, body] of [
      ['GET /jmap/ws', h2c, undefined],
      ['POST /jmap/ws', asked(), '{}'],
      ['GET /jmap/ws', asked(), 'body'],
    ] as const)
      assert.equal((await ask(gateway.port, requestOf(line, headers, body))).status, 200);
    const pipelined = await start(openConnection(gateway.port));
    pipelined.send(Buffer.concat([requestOf('GET /jmap/session'), requestOf('GET /jmap/ws', asked())]));
    assert.equal((await pipelined.answer())?.status, 200);
    assert.equal((await pipelined.answer())?.status, 200);
    assert.equal(behind.requests.filter(({ headers }) => headers.upgrade !== undefined).length, 0);
  });
});
