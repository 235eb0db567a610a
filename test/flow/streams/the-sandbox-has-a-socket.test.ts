// The WebSocket of the shipped file service, behind its contract.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { startGateway } from '../../support/gateway.ts';

test('the socket of the file service opens with a key, and answers', async (context) => {
  const gateway = await startGateway({ upstreams: { files: { contracts: ['files.yaml'], live: 'sandbox:files' } } });
  context.after(() => gateway.stop());
  const address = `${gateway.url.replace('http', 'ws')}/v1/file-socket`;
  const socket = new WebSocket(address, { headers: await gateway.authorize() });
  await once(socket, 'open');
  socket.send('hello');
  assert.equal(String((await once(socket, 'message'))[0]), 'hello');
  socket.close();
  await once(socket, 'close');

  const [error] = await once(new WebSocket(address), 'error');
  assert.match(String(error), /401/);
});
