// Connections of a tunnel to its upstream: used again while nothing comes over them but answers to requests, and not at all where the
// upstream is isolated.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, requestOf, until } from '../../support/connection.ts';
import { startBehind, startTunnel } from './mail-tunnel.ts';

const start = closesAfterEach();
const FORGED = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged';

async function setUp(entry: Record<string, unknown> = {}) {
  const behind = await start(startBehind());
  const gateway = await start(startTunnel(behind.url, { entry }));
  const seen = new WeakSet<object>();
  let opened = 0;
  behind.plays(({ socket, url }, response) => {
    if (!seen.has(socket)) opened += 1;
    seen.add(socket);
    response.setHeader('content-type', 'text/plain').end(url);
  });
  const call = async (path: string) => (await ask(gateway.port, requestOf(`GET ${path}`))).body.toString();
  return { behind, gateway, call, opened: () => opened };
}

describe('a connection of a tunnel', () => {
  it('carries one request after the other', async () => {
    const { behind, call, opened } = await setUp();
    for (const path of ['/jmap/1', '/jmap/2', '/jmap/3']) assert.equal(await call(path), path);
    assert.equal(opened(), 1);
    assert.equal(behind.requests.at(-1)?.headers.connection, 'keep-alive');
  });

  it('over which bytes came unasked is closed, and they are no answer', async () => {
    const { behind, call, opened } = await setUp();
    assert.equal(await call('/jmap/1'), '/jmap/1');
    for (const socket of behind.sockets) socket.write(FORGED);
    await until(() => behind.sockets.size === 0 || undefined);
    assert.equal(await call('/jmap/2'), '/jmap/2');
    assert.equal(opened(), 2);
  });

  it('is for one request once bytes came unasked', async () => {
    const { behind, gateway, call, opened } = await setUp();
    assert.equal(await call('/jmap/1'), '/jmap/1');
    for (const socket of behind.sockets) socket.write(FORGED);
    await until(() => gateway.logLines().some(({ msg }) => /no request asked for/.test(String(msg))));
    for (const path of ['/jmap/2', '/jmap/3', '/jmap/4']) {
      assert.equal(await call(path), path);
      assert.equal(behind.requests.at(-1)?.headers.connection, 'close');
      await until(() => behind.sockets.size === 0 || undefined);
    }
    assert.equal(opened(), 4);
    // Of its operations, too.
    const authorization = await gateway.authorize();
    for (const id of ['1', '2']) {
      await ask(gateway.port, requestOf(`GET /v1/things/${id}`, authorization));
      assert.equal(behind.requests.at(-1)?.headers.connection, 'close');
    }
  });

  it('is for one request where the upstream is isolated', async () => {
    const { behind, call, opened } = await setUp({ isolate: true });
    for (const path of ['/jmap/1', '/jmap/2', '/jmap/3']) {
      assert.equal(await call(path), path);
      assert.equal(behind.requests.at(-1)?.headers.connection, 'close');
      await until(() => behind.sockets.size === 0 || undefined);
    }
    assert.equal(opened(), 3);
  });
});
