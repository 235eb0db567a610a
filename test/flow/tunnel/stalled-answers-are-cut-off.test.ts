// An upstream that stalls in the middle of an answer's body is given up: otherwise it would hold the connections on both sides, and the
// client's place, until the client leaves. Event streams may be silent.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startBehind, startTunnel } from './mail-tunnel.ts';
import { openWebSocket } from './open-ends.ts';

const start = closesAfterEach();
const MEGABYTE = Buffer.alloc(1_048_576, 'x');
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function setUp(
  entry: Record<string, unknown>,
  plays: (request: IncomingMessage, answer: ServerResponse) => void,
) {
  const behind = await start(startBehind());
  behind.plays(plays);
  const gateway = await start(startTunnel(behind.url, { entry }));
  const client = await start(openConnection(gateway.port));
  return { behind, gateway, client };
}

describe('an answer with a body that stalls', () => {
  for (const [name, headers] of [
    ['with a length', { 'Content-Length': '100' }],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }],
  ] as const) {
    it(`${name} is cut off after idleTimeoutMs, toward both sides`, async () => {
      const { behind, gateway, client } = await setUp(
        { timeoutMs: 60_000, idleTimeoutMs: 200 },
        (_request, response) => {
          response.writeHead(200, headers).write('half');
        },
      );
      client.send(requestOf('GET /jmap/download/a'));
      assert.equal(await client.closed, 'reset');
      assert.match(client.rest().toString(), /half/);
      await until(() => behind.sockets.size === 0);
      const line = await until(() => gateway.logLines().find(({ code }) => code === 'upstream_timeout'));
      assert.equal(line.tunnel, 'things/0');
    });
  }

  it('is cut off after idleTimeoutMs where the entry has one', async () => {
    const { gateway, client } = await setUp({ timeoutMs: 60_000, idleTimeoutMs: 200 }, (_request, response) => {
      response.writeHead(200).write('half');
    });
    client.send(requestOf('GET /jmap/download/a'));
    assert.equal(await client.closed, 'reset');
    await until(() => gateway.logLines().find(({ code }) => code === 'upstream_timeout'));
  });

  it('is cut off when not a byte of it has come', async () => {
    const { client } = await setUp({ timeoutMs: 60_000, idleTimeoutMs: 200 }, (_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' }).flushHeaders();
    });
    client.send(requestOf('GET /jmap/download/a'));
    assert.equal(await client.closed, 'reset');
  });

  it('is cut off where it is the refusal of a WebSocket', async () => {
    const { behind, gateway } = await setUp({ timeoutMs: 60_000, idleTimeoutMs: 200 }, () => undefined);
    behind.upgrades((_request, socket) => {
      socket.resume().on('end', () => socket.destroy());
      socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\nhalf');
    });
    const client = await start(openWebSocket(gateway.port));
    await client.ended;
    assert.match(client.received().toString(), /^HTTP\/1\.1 403 [\s\S]*half$/);
    await until(() => behind.sockets.size === 0);
  });
});

describe('an answer that takes longer than timeoutMs', () => {
  it('is whole when its bytes keep coming', async () => {
    const { client } = await setUp({ timeoutMs: 400 }, async (_request, response) => {
      for (let i = 0; i < 10; i++) {
        response.write('x');
        await pause(100);
      }
      response.end();
    });
    client.send(requestOf('GET /jmap/download/a'));
    const answer = await client.answer();
    assert.deepEqual([answer?.whole, answer?.body.toString()], [true, 'x'.repeat(10)]);
  });

  it('is whole when it waits for the client', async () => {
    const { gateway } = await setUp({ timeoutMs: 60_000, idleTimeoutMs: 1000 }, async (_request, response) => {
      for (let i = 0; i < 30; i++) if (!response.write(MEGABYTE)) await once(response, 'drain');
      response.end();
    });
    const answer = await fetch(`${gateway.url}/jmap/download/a`);
    await pause(2500);
    let bytes = 0;
    for await (const piece of answer.body as AsyncIterable<Uint8Array>) bytes += piece.length;
    assert.equal(bytes, 30 * MEGABYTE.length);
  });
});

describe('interim answers', () => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n';
  for (const [count, status] of [
    [50, 200],
    [10_000, 502],
  ] as const) {
    it(`end in ${status} when there are ${count} of them`, async () => {
      const { gateway } = await setUp({}, (_request, response) => {
        response.socket?.write(interim.repeat(count));
        response.end('late');
      });
      const answer = await ask(gateway.port, requestOf('GET /jmap/session'));
      if (status === 200) assert.equal(answer.body.toString(), 'late');
      else assertRefusal(answer, 'upstream_bad_response');
    });
  }

  it('are bounded before a WebSocket is granted, too', async () => {
    const { behind, gateway } = await setUp({}, () => undefined);
    behind.upgrades((_request, socket) => socket.write(interim.repeat(10_000)));
    const client = await start(openWebSocket(gateway.port));
    await client.ended;
    assert.match(client.received().toString(), /^HTTP\/1\.1 502 /);
  });
});
