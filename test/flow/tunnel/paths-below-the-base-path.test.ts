// A tunnel with a path below the base path of its entry: the service gets the path without the prefix, as operations do.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { startBehind, startTunnel } from './mail-tunnel.ts';
import { headOf, nextWebSocket, openWebSocket } from './open-ends.ts';

const start = closesAfterEach();
const options = { entry: { basePath: '/post' }, tunnel: { paths: ['/post/inbox/*', '/other/*'], webSocket: true } };

it('requests and their locations', async () => {
  const behind = await start(startBehind());
  const gateway = await start(startTunnel(behind.url, options));
  behind.plays((request, response) => response.writeHead(302, { Location: '/next' }).end(request.url));
  const below = await ask(gateway.port, requestOf('GET /post/inbox/1?a=1'));
  assert.deepEqual([below.body.toString(), below.headers.location], ['/inbox/1?a=1', '/post/next']);
  const beside = await ask(gateway.port, requestOf('GET /other/box'));
  assert.deepEqual([beside.body.toString(), beside.headers.location], ['/other/box', '/next']);
});

it('WebSockets', async () => {
  const behind = await start(startBehind());
  const gateway = await start(startTunnel(behind.url, options));
  const granted = nextWebSocket(behind);
  const client = await start(openWebSocket(gateway.port, '/post/inbox/ws'));
  assert.match(await headOf(client), /101/);
  (await granted).destroy();
  assert.equal(behind.requests.at(-1)?.url, '/inbox/ws');
});
