// While no worker listens, connections to its port are accepted and held unread; the first one that takes requests is given them.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { it, type TestContext } from 'node:test';
import { createGap } from '../../../gateway/workers/gap.ts';
import { freePort } from '../../support/free-port.ts';

async function gapOn(test: TestContext, isEnding = false) {
  const port = await freePort();
  const gap = createGap({ host: '127.0.0.1', ports: () => [port], isEnding: () => isEnding, onFailure: assert.fail });
  test.after(() => gap.makeWay(0));
  return { gap, port };
}

/** Resolves with the connection; tries again until something listens. */
async function connected(test: TestContext, port: number): Promise<Socket> {
  for (;;) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    test.after(() => socket.destroy());
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'close').then(() => false),
    ]);
    if (isOpen) return socket;
  }
}

async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const [error] = await once(socket, 'error').catch((thrown: Error) => [thrown]);
  return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
}

it('begins with the end of the last worker, holds connections with their bytes, and passes them on', async (test) => {
  const { gap, port } = await gapOn(test);
  gap.makeWay(1);
  gap.makeWay(2);
  gap.begin(1);
  assert.equal(gap.isClosed(), true);
  assert.ok(await isRefused(port), 'worker 2 listens, as far as the gap knows');
  gap.begin(2);
  const client = await connected(test, port);
  client.write('hello');
  gap.makeWay(3);
  assert.ok(await isRefused(port), 'worker 3 needs the port');
  const given: [Socket, number][] = [];
  gap.end((socket, of) => given.push([socket, of]));
  assert.equal(given.length, 1);
  const [socket, of] = given[0] as [Socket, number];
  assert.equal(of, port);
  const [bytes] = await once(socket.resume(), 'data');
  assert.equal(String(bytes), 'hello');
  socket.destroy();
});

it('a worker that never listened begins no gap, nor does the end of the gateway', async (test) => {
  const { gap, port } = await gapOn(test);
  gap.begin(1);
  assert.ok(await isRefused(port));
  const ending = await gapOn(test, true);
  ending.gap.makeWay(1);
  ending.gap.begin(1);
  assert.ok(await isRefused(ending.port));
});
