// A client that sends or reads so slowly that the time of an exchange runs out, or that breaks off, does not make the upstream look broken:
// otherwise one client could open the circuit breaker for all, and have working targets ejected.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { closesAfterEach } from '../support/closing.ts';
import { openConnection, requestOf, until } from '../support/connection.ts';
import { httpAnswer } from '../support/scripted-upstream.ts';
import { createWorld, type World } from '../support/world.ts';

const start = closesAfterEach();
const startWorld = (times: object = { timeoutMs: 500 }) =>
  start(createWorld({}, { ...times, breaker: { requestsMin: 2, openSeconds: 600 } }));

async function assertSpared(world: World, exchanges: number): Promise<void> {
  await until(() => world.gateway.logLines().filter(({ code }) => code === 'upstream_timeout').length === exchanges);
  world.upstream.plays((socket) => socket.write(httpAnswer(200, '{}')));
  assert.equal((await world.call('GET /v1/things')).status, 200);
}

it('uploads that stop', async () => {
  const world = await startWorld();
  world.upstream.plays(() => {});
  const headers = {
    Authorization: world.authorization,
    'Content-Type': 'application/octet-stream',
    'Content-Length': '100',
  };
  for (let i = 0; i < 3; i++) {
    const connection = await start(openConnection(world.gateway.port));
    connection.send(requestOf('POST /v1/files', headers), 'begun');
  }
  await assertSpared(world, 3);
});

it('downloads that the client does not read', async () => {
  // Long enough to fill the buffers of the sockets between.
  const world = await startWorld({ maxStreamMs: 800 });
  const body = 'x'.repeat(20_000_000);
  world.upstream.plays((socket) => socket.write(httpAnswer(200, body, { 'Content-Type': 'application/octet-stream' })));
  for (let i = 0; i < 3; i++) {
    const connection = await start(openConnection(world.gateway.port));
    connection.socket.pause();
    connection.send(requestOf('GET /v1/files', { Authorization: world.authorization }));
  }
  await assertSpared(world, 3);
});

it('uploads that are broken off', async () => {
  const world = await startWorld();
  world.upstream.plays(() => {});
  const headers = { Authorization: world.authorization, 'Content-Type': 'application/octet-stream' };
  for (let i = 1; i <= 3; i++) {
    const connection = await start(openConnection(world.gateway.port));
    connection.send(requestOf('POST /v1/files', { ...headers, 'Content-Length': '100' }), 'begun');
    await until(() => world.upstream.received.length === i);
    connection.destroy();
  }
  await until(() => world.gateway.logLines().filter(({ operation }) => operation === 'uploadFile').length === 3);
  world.upstream.plays((socket) => socket.write(httpAnswer(200, '{}')));
  assert.equal((await world.call('GET /v1/things')).status, 200);
});

it('an upstream that hangs is detected', async () => {
  const world = await startWorld();
  world.upstream.plays(() => {});
  for (let i = 0; i < 2; i++) assert.equal((await world.call('GET /v1/things')).error.code, 'upstream_timeout');
  assert.equal((await world.call('GET /v1/things')).error.code, 'upstream_unavailable');
});
