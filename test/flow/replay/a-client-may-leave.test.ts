// A client that leaves while its write is in progress finds the outcome when it comes back; one that leaves before its write was sent
// on has not written anything.

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, openConnection, requestOf, until } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startGateway } from '../../support/gateway.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { created, createKeyedWorld, creates, type KeyedWorld, newKey, THING } from './keyed.ts';

const start = closesAfterEach();

/** Sends a write, and leaves once `when` holds; resolves when the gateway has noticed. */
async function sendAndLeave({ gateway, authorization }: KeyedWorld, key: string, when: () => boolean): Promise<void> {
  const client = await openConnection(gateway.port);
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key, Authorization: authorization };
  client.send(requestOf('POST /v1/things', headers, THING));
  await until(when);
  // A reset is seen at once, a closed connection half a second later.
  client.socket.resetAndDestroy();
  await until(() => gateway.logLines().some(({ status }) => status === 499));
}

/** Comes back as long as the first attempt is running. */
async function insist({ post }: KeyedWorld, key: string) {
  for (;;) {
    const answer = await post({ key });
    if (answer.error.code !== 'idempotency_key_in_use') return answer;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The upstream's side of every request, in order, until the test answers it. */
function holds(world: KeyedWorld): Socket[] {
  const sockets: Socket[] = [];
  world.upstream.plays((socket) => sockets.push(socket));
  return sockets;
}

describe('a client that leaves', () => {
  it('while the upstream works finds the answer when it comes back', async () => {
    const world = await start(createKeyedWorld());
    const key = newKey();
    const sockets = holds(world);
    await sendAndLeave(world, key, () => sockets.length === 1);
    assert.equal((await world.post({ key })).error.code, 'idempotency_key_in_use', 'it goes on');
    const answer = created();
    sockets[0]?.write(answer);
    const again = await insist(world, key);
    assert.deepEqual([again.status, again.headers['idempotent-replayed']], [201, 'true']);
    assert.ok(answer.endsWith(String(again.body)));
    assert.equal(world.upstream.received.length, 1);
  });

  it('while a refusal is on its way finds the refusal', async () => {
    const world = await start(createKeyedWorld());
    const key = newKey();
    const sockets = holds(world);
    await sendAndLeave(world, key, () => sockets.length === 1);
    sockets[0]?.write(httpAnswer(422, '{"message":"No such seat."}'));
    const again = await insist(world, key);
    assert.deepEqual([again.status, again.error.message], [422, 'No such seat.']);
    assert.equal(again.headers['idempotent-replayed'], 'true');
  });

  it('while an answer too long to be kept comes in finds that it was done', async () => {
    const world = await start(createKeyedWorld());
    const key = newKey();
    const sockets = holds(world);
    await sendAndLeave(world, key, () => sockets.length === 1);
    sockets[0]?.on('error', () => undefined);
    sockets[0]?.write(httpAnswer(201, JSON.stringify('x'.repeat(100_000))));
    assert.equal((await insist(world, key)).error.code, 'idempotency_result_not_retained');
  });

  it('for an upstream that never answers finds that the outcome is unknown, after its deadline', async () => {
    const world = await start(createKeyedWorld({}, { timeoutMs: 300 }));
    const key = newKey();
    const sockets = holds(world);
    await sendAndLeave(world, key, () => sockets.length === 1);
    world.upstream.plays(creates);
    assertRefusal(await insist(world, key), 'idempotency_outcome_unknown');
    assert.equal(world.upstream.received.length, 1);
  });

  it('before anything was sent on has not written', async () => {
    const world = await start(createKeyedWorld({}, { connections: 1 }));
    const key = newKey();
    const sockets = holds(world);
    const other = world.call('GET /v1/things');
    await until(() => sockets.length === 1);
    let waited = false;
    setTimeout(() => {
      waited = true;
    }, 100);
    // The one connection is taken, so that the write waits inside the gateway.
    await sendAndLeave(world, key, () => waited);
    sockets[0]?.write(httpAnswer(200, '{}'));
    assert.equal((await other).status, 200);
    world.upstream.plays(creates);
    const again = await insist(world, key);
    assert.deepEqual([again.status, again.headers['idempotent-replayed']], [201, undefined]);
    assert.equal(world.upstream.received.filter((request) => request.startsWith('POST')).length, 1);
  });

  it('is waited for when the gateway ends, and finds the answer when it has started again', async () => {
    const dataDirectory = temporaryDirectory();
    const world = await createKeyedWorld({ dataDirectory });
    await start(world.upstream);
    const key = newKey();
    const sockets = holds(world);
    await sendAndLeave(world, key, () => sockets.length === 1);
    const stopped = world.gateway.stop();
    sockets[0]?.write(created());
    await stopped;
    const gateway = await start(startGateway({ ...thingsAt(world.upstream.url), dataDirectory }));
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key, Authorization: world.authorization };
    const again = await ask(gateway.port, requestOf('POST /v1/things', headers, THING));
    assert.deepEqual([again.status, again.headers['idempotent-replayed']], [201, 'true']);
  });
});
