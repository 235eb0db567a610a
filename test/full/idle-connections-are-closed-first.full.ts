// The gateway closes an idle connection before the upstream does, so that no request is sent on one just then.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { it } from 'node:test';
import { ask } from '../../gateway/http1/client/ask.ts';
import { createPools } from '../../gateway/upstream/targets/pools.ts';

/** @param announcedMs what the server keeps idle connections for, and says so; 0: it says nothing, and keeps them */
async function idleMs(announcedMs: number): Promise<number> {
  const server = createServer({ keepAliveTimeout: announcedMs }, (_, response) => response.end('{}'));
  const connected = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const pools = createPools(() => undefined);
  const held = pools.hold(
    `http://127.0.0.1:${port}`,
    {
      connections: 1,
      connectTimeoutMs: 2000,
      connectionMaxAgeSeconds: 60,
    },
    () => undefined,
  );
  const request = { method: 'GET', path: '/', headers: [], body: null };
  await ask(held.dispatcher, request, AbortSignal.timeout(5000));
  const socket = await connected;
  const since = performance.now();
  // `end` comes from the other side only.
  await new Promise((resolve) => socket.once('end', resolve));
  const ms = performance.now() - since;
  await held.letGo();
  server.close();
  return ms;
}

it('two seconds before the time that the upstream announces', async () => {
  assert.ok((await idleMs(4000)) < 3500);
});

it('after four seconds where nothing is announced', async () => {
  const ms = await idleMs(0);
  assert.ok(ms > 2500 && ms < 5000, `${ms}`);
});
