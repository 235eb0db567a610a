// Event streams stay open for as long as both sides want, also in silence; large bodies never lie in the gateway's memory.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { type Connection, openConnection, requestOf, until, untilStill } from '../../support/connection.ts';
import { startBehind, startTunnel } from './mail-tunnel.ts';
import { frame, headOf, nextWebSocket, openWebSocket } from './open-ends.ts';

const start = closesAfterEach();
const MEGABYTE = 1_048_576;
const PIECES = 32;
const piece = Buffer.alloc(MEGABYTE, 'abcdefg');

async function setUp(options = {}) {
  const behind = await start(startBehind());
  const started = await startTunnel(behind.url, options);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= started.stop();
    return stopping;
  };
  const gateway = await start({ ...started, stop });
  return { behind, gateway };
}

async function seen(connection: Connection, text: string): Promise<void> {
  while (!connection.rest().includes(text)) await new Promise((resolve) => connection.socket.once('data', resolve));
}

async function setUpStream(options = {}) {
  const { behind, gateway } = await setUp(options);
  const opened = new Promise<ServerResponse>((resolve) => {
    behind.plays((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' }).flushHeaders();
      resolve(response);
    });
  });
  const client = await start(openConnection(gateway.port));
  client.send(requestOf('GET /jmap/eventsource/?types=*', { Accept: 'text/event-stream' }));
  const upstream = await opened;
  return { behind, gateway, client, upstream };
}

describe('an event stream', () => {
  it('begins before its first event', async () => {
    const { client, upstream } = await setUpStream();
    await seen(client, '\r\n\r\n');
    assert.match(
      client.rest().toString(),
      /^HTTP\/1\.1 200 OK\r\nContent-Type: text\/event-stream\r\nCache-Control: no-cache/,
    );
    upstream.write('event: ping\n\n');
    await seen(client, 'event: ping\n\n');
  });

  it('outlasts every time-out while both sides are silent', async () => {
    const timeouts = { headersMs: 500, requestMs: 500, keepAliveMs: 500 };
    const { client, upstream } = await setUpStream({ entry: { timeoutMs: 500 }, gateway: { timeouts } });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    upstream.end('event: late\n\n');
    const answer = await client.answer();
    assert.deepEqual([answer?.whole, answer?.body.toString()], [true, 'event: late\n\n']);
  });

  it('ends upstream when the client leaves', async () => {
    const { client, upstream, gateway } = await setUpStream();
    const ended = new Promise((resolve) => upstream.on('close', resolve));
    await seen(client, '\r\n\r\n');
    client.destroy();
    await ended;
    await until(() => gateway.logLines().find(({ upstream_status }) => upstream_status === 200));
  });
});

describe('a gateway that ends', () => {
  it('ends event streams in good form, and lets requests in flight finish', async () => {
    const { client, upstream, gateway, behind } = await setUpStream({ gateway: { timeouts: { drainMs: 5000 } } });
    upstream.write('event: one\n\n');
    await seen(client, 'event: one');
    let finish = () => {};
    behind.plays((_request, response) => {
      finish = () => response.end('finished');
    });
    const other = await start(openConnection(gateway.port));
    other.send(requestOf('GET /jmap/session'));
    await until(() => behind.requests.length === 2);
    const stopped = gateway.stop();
    const answer = await client.answer();
    assert.deepEqual([answer?.whole, answer?.body.toString()], [true, 'event: one\n\n']);
    finish();
    assert.equal((await other.answer())?.body.toString(), 'finished');
    await stopped;
  });

  it("sends WebSockets the close code 1001, and their upstream the clients' answer", async () => {
    const { behind, gateway } = await setUp({ gateway: { timeouts: { drainMs: 5000 } } });
    const granted = nextWebSocket(behind);
    const client = await start(openWebSocket(gateway.port));
    const upstream = await granted;
    await headOf(client);
    upstream.socket.write(frame(1, 'last words'));
    await client.takes(12);
    const stopped = gateway.stop();
    assert.deepEqual(await client.takes(4), Buffer.from([0x88, 0x02, 0x03, 0xe9]));
    client.socket.end(frame(8, Buffer.from([0x03, 0xe9])));
    assert.deepEqual(await upstream.takes(4), frame(8, Buffer.from([0x03, 0xe9])));
    upstream.socket.end();
    await stopped;
  });

  it('puts nothing into a frame that is half sent', async () => {
    const { behind, gateway } = await setUp({ gateway: { timeouts: { drainMs: 200 } } });
    const granted = nextWebSocket(behind);
    const client = await start(openWebSocket(gateway.port));
    const upstream = await granted;
    await headOf(client);
    const half = frame(1, 'x'.repeat(300)).subarray(0, 100);
    upstream.socket.write(half);
    await until(() => client.received().length === 100);
    await gateway.stop();
    await Promise.all([client.ended, upstream.ended]);
    assert.deepEqual(client.received(), half);
  });
});

describe('32 MB', () => {
  const digestOf = (pieces: number) => {
    const digest = createHash('sha256');
    for (let i = 0; i < pieces; i++) digest.update(piece);
    return digest.digest('hex');
  };

  it('come down to a slow reader whole, and take little memory meanwhile', async () => {
    const { behind, gateway } = await setUp();
    let sent = 0;
    behind.plays((_request, response) => {
      response.writeHead(200, { 'content-length': PIECES * MEGABYTE });
      Readable.from(
        (function* () {
          for (; sent < PIECES; sent++) yield piece;
        })(),
      ).pipe(response);
    });
    const before = process.memoryUsage().arrayBuffers;
    const answer = await fetch(`${gateway.url}/jmap/download/a/b/c`);
    await untilStill(() => sent);
    assert.ok(sent < PIECES / 2, `${sent} MB were taken from the upstream`);
    assert.ok(process.memoryUsage().arrayBuffers - before < 20 * MEGABYTE);
    const received = createHash('sha256');
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) received.update(chunk);
    assert.equal(received.digest('hex'), digestOf(PIECES));
  });

  for (const framing of ['Content-Length', 'Transfer-Encoding'] as const) {
    it(`go up to a slow reader whole, and take little memory meanwhile: ${framing}`, async () => {
      const { behind, gateway } = await setUp();
      let read = () => {};
      const received = createHash('sha256');
      behind.plays((request, response) => {
        read = () => request.on('data', (chunk) => received.update(chunk)).on('end', () => response.end('all of it'));
      });
      const before = process.memoryUsage().arrayBuffers;
      const client = await start(openConnection(gateway.port));
      const isChunked = framing === 'Transfer-Encoding';
      client.send(requestOf('POST /jmap/upload/a/', { [framing]: isChunked ? 'chunked' : String(PIECES * MEGABYTE) }));
      let sent = 0;
      const send = () => {
        for (; sent < PIECES; sent++) {
          if (isChunked) client.send('100000\r\n');
          client.send(piece);
          if (isChunked) client.send(sent === PIECES - 1 ? '\r\n0\r\n\r\n' : '\r\n');
          if (client.socket.writableNeedDrain) {
            sent++;
            return;
          }
        }
      };
      client.socket.on('drain', send);
      send();
      await until(() => behind.requests.length === 1);
      await untilStill(() => sent);
      assert.ok(sent < PIECES / 2, `${sent} MB were taken from the client`);
      assert.ok(process.memoryUsage().arrayBuffers - before < 20 * MEGABYTE);
      read();
      assert.equal((await client.answer())?.body.toString(), 'all of it');
      assert.equal(received.digest('hex'), digestOf(PIECES));
    });
  }
});
