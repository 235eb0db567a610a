// The gateway's own faults are answered like all others: one error object, without internals. A stop loses no request.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openConnection, requestOf } from '../../support/connection.ts';
import { runCases } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';
import { brokenClock, bugCases, drainCases } from './lifecycle.cases.ts';

describe('a bug', () => {
  let world: World;
  before(async () => {
    world = await createWorld(brokenClock);
  });
  after(() => world.close());

  runCases(bugCases, () => world);
});

describe('a gateway that is stopped', () => {
  let world: World;
  before(async () => {
    world = await createWorld();
  });
  after(() => world.upstream.close());

  runCases(drainCases, () => world);
});

describe('a gateway that stops while it works', () => {
  it('finishes its requests, announces the end of the connection, and takes no new connection', async () => {
    const world = await createWorld();
    let finish = () => {};
    const arrived = new Promise<void>((resolve) => {
      world.upstream.plays((socket) => {
        finish = () => socket.write(httpAnswer(200, '{"done":true}'));
        resolve();
      });
    });
    const idle = await openConnection(world.gateway.port);
    const connection = await openConnection(world.gateway.port);
    connection.send(requestOf('GET /v1/things', { Authorization: world.authorization }));
    await arrived;
    const stopped = world.gateway.stop();
    assert.equal(await idle.closed, 'end', 'idle connections are not waited for');
    await assert.rejects(openConnection(world.gateway.port), { code: 'ECONNREFUSED' });
    finish();
    const answer = await connection.answer();
    assert.equal(answer?.status, 200);
    assert.equal(answer?.body.toString(), '{"done":true}');
    assert.equal(answer?.headers.connection, 'close');
    assert.equal(await connection.closed, 'end');
    for (const { destroy } of [idle, connection]) destroy();
    await stopped;
    await world.upstream.close();
  });

  it('does not wait for the idle time of a connection with an answer that had begun before', async () => {
    const world = await createWorld();
    let finish = () => {};
    world.upstream.plays((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n{ ');
      finish = () => socket.write(' }');
    });
    const connection = await openConnection(world.gateway.port);
    connection.send(requestOf('GET /v1/things', { Authorization: world.authorization }));
    await new Promise((resolve) => connection.socket.once('data', resolve));
    const startedAt = performance.now();
    const stopped = world.gateway.stop();
    finish();
    assert.equal((await connection.answer())?.whole, true);
    await stopped;
    assert.ok(performance.now() - startedAt < 2000);
    connection.destroy();
    await world.upstream.close();
  });

  it('cuts off unfinished requests after their time', async () => {
    const world = await createWorld({ gateway: { timeouts: { drainMs: 100 } } });
    const arrived = new Promise<void>((resolve) => world.upstream.plays(() => resolve()));
    const connection = await openConnection(world.gateway.port);
    connection.send(requestOf('GET /v1/things', { Authorization: world.authorization }));
    await arrived;
    await world.gateway.stop();
    assert.equal(await connection.answer(), undefined);
    await world.upstream.close();
  });
});
