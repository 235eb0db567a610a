// Secrets are hashed before a request is sent to an upstream. That takes of the time of the request, and none once its client has left: a
// hash takes tens of milliseconds of a core, and few run at once.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { createWorld, type World } from '../../support/world.ts';

/** Their hashes take seconds. */
const MANY = 200;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** CPU of this process over a time in which it has nothing to do; hashes are made on threads of it. */
async function cpuMs(overMs: number): Promise<number> {
  const from = process.cpuUsage();
  await pause(overMs);
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

describe('a request with many secrets', () => {
  let world: World;
  before(async () => {
    world = await createWorld({}, { timeoutMs: 500, requests: [{ operations: ['updateThing'], hash: ['secrets'] }] });
  });
  after(() => world.close());

  const bodyWith = (count: number) =>
    JSON.stringify({ secrets: Array.from({ length: count }, (_, number) => `secret ${number}`) });
  const json = { 'Content-Type': 'application/json' };
  const send = (count: number, headers = {}) =>
    world.call('PATCH /v1/things/a', { ...json, ...headers }, bodyWith(count));

  it('is refused once its time is over, and hashed no further', async () => {
    const answer = await send(MANY);
    assertRefusal(answer, 'upstream_timeout');
    assert.equal(answer.headers['proxy-status'], 'api-gateway; error=connection_timeout');
    await pause(200);
    assert.ok((await cpuMs(1000)) < 400);
    assert.deepEqual(world.upstream.received, []);
  });

  it('is refused in time when it waits for the hashes of others', async () => {
    const begun = performance.now();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(MANY)));
    for (const answer of answers) assertRefusal(answer, 'upstream_timeout');
    assert.ok(performance.now() - begun < 2500);
    assert.deepEqual(world.upstream.received, []);
  });

  it('is hashed no further once its client has left', async () => {
    const connection = await openConnection(world.gateway.port);
    const headers = { Authorization: world.authorization, ...json, 'Idempotency-Key': 'left-behind' };
    connection.send(requestOf('PATCH /v1/things/a', headers, bodyWith(MANY)));
    await pause(150);
    connection.socket.resetAndDestroy();
    const line = await until(() => world.gateway.logLines().find(({ status }) => status === 499));
    assert.deepEqual([line.operation, line.code], ['updateThing', undefined]);
    assert.ok((await cpuMs(250)) < 200);
    assert.deepEqual(world.upstream.received, []);
  });

  it('leaves room and key to the next one', async () => {
    assert.equal((await send(1, { 'Idempotency-Key': 'left-behind' })).status, 200);
    assert.equal(world.upstream.received.length, 1);
  });
});
