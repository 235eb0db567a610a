// A gateway that ends stops accepting connections first, and serves those that it has accepted: a balancer that has just connected sends
// its request, and would not send it to another gateway once it has.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, it } from 'node:test';
import { createWorld } from '../../support/world.ts';

let stopped: Promise<void> | undefined;

const world = await createWorld({ gateway: { timeouts: { drainDelayMs: 1500 } } });
after(async () => {
  if (stopped === undefined) await world.gateway.stop();
  await stopped;
  await world.upstream.close();
});

async function open(): Promise<Socket> {
  const socket = connect(world.gateway.port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** Keeps a silent connection, the latest of the accepted ones. Returns it once no more are. */
async function lastAccepted(): Promise<Socket> {
  let last = await open();
  for (;;) {
    try {
      const next = await open();
      last.destroy();
      last = next;
    } catch {
      return last;
    }
  }
}

it('a request on the last accepted connection is answered, with Connection: close', async () => {
  stopped = world.gateway.stop();
  const socket = await lastAccepted();
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk)).on('error', () => undefined);
  socket.write('GET /v1/nothing HTTP/1.1\r\nHost: api.test\r\n\r\n');
  await once(socket, 'close');
  assert.match(text, /^HTTP\/1\.1 404 /);
  assert.match(text, /\r\nconnection: close\r\n/i);
});
