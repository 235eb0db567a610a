// Secrets are hashed before a request is sent to an upstream. That takes of the time of the request, and none once its client has left: a
// hash takes tens of milliseconds of a core, and few run at once.

import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { after, before, describe, it } from 'node:test';
import { openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { createWorld, type World } from '../../support/world.ts';

/** Their hashes take seconds of a core. */
const MANY = 200;

/** An operation with a deadline of its own. */
const patient = {
  '/v1/secrets': {
    put: {
      operationId: 'replaceSecrets',
      security: [{ apiKey: ['things:write'] }],
      requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
      responses: { 200: { description: 'done' } },
    },
  },
};

interface Hashes {
  begun(): number;
  /** Resolves with their number once none is being made. A hash that waits for its turn begins as soon as another one ends. */
  settled(): Promise<number>;
  stop(): void;
}

/** Counts the hashes of this process. Node makes each on a thread, as a request of this type. */
function countHashes(): Hashes {
  let begun = 0;
  const running = new Set<number>();
  const hook = createHook({
    init(id, type) {
      if (type !== 'SCRYPTREQUEST') return;
      begun += 1;
      running.add(id);
    },
    after: (id) => void running.delete(id),
  }).enable();
  return {
    begun: () => begun,
    async settled() {
      await until(() => running.size === 0);
      return begun;
    },
    stop: () => void hook.disable(),
  };
}

describe('a request with many secrets', () => {
  let world: World;
  let hashes: Hashes;
  before(async () => {
    const entry = { timeoutMs: 500, operations: { replaceSecrets: { timeoutMs: 60_000 } } };
    const requests = [{ operations: ['updateThing', 'replaceSecrets'], hash: ['secrets'] }];
    world = await createWorld({}, { ...entry, requests }, patient);
    hashes = countHashes();
  });
  after(() => world.close());
  after(() => hashes.stop());

  const bodyWith = (count: number) =>
    JSON.stringify({ secrets: Array.from({ length: count }, (_, number) => `secret ${number}`) });
  const json = { 'Content-Type': 'application/json' };
  const send = (count: number, headers = {}) =>
    world.call('PATCH /v1/things/a', { ...json, ...headers }, bodyWith(count));

  it('is refused once its time is over, and hashed no further', async () => {
    const answer = await send(MANY);
    const begun = hashes.begun();
    assertRefusal(answer, 'upstream_timeout');
    assert.equal(answer.headers['proxy-status'], 'api-gateway; error=connection_timeout');
    assert.ok(begun > 0 && begun < MANY, `${begun} hashes`);
    assert.equal(await hashes.settled(), begun);
    assert.deepEqual(world.upstream.received, []);
  });

  it('is refused in time when it waits for the hashes of others', async () => {
    const before = hashes.begun();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(MANY)));
    const begun = hashes.begun();
    for (const answer of answers) assertRefusal(answer, 'upstream_timeout');
    assert.ok(begun - before < MANY, 'not even those of one request');
    assert.equal(await hashes.settled(), begun);
    assert.deepEqual(world.upstream.received, []);
  });

  it('is hashed no further once its client has left', async () => {
    const connection = await openConnection(world.gateway.port);
    const headers = { Authorization: world.authorization, ...json, 'Idempotency-Key': 'left-behind' };
    const before = hashes.begun();
    connection.send(requestOf('PUT /v1/secrets', headers, bodyWith(MANY)));
    await until(() => hashes.begun() > before);
    connection.socket.resetAndDestroy();
    const line = await until(() => world.gateway.logLines().find(({ status }) => status === 499));
    const begun = hashes.begun();
    assert.deepEqual([line.operation, line.code], ['replaceSecrets', undefined]);
    assert.equal(await hashes.settled(), begun);
    assert.ok(begun - before < MANY, `${begun - before} hashes`);
    assert.deepEqual(world.upstream.received, []);
  });

  it('leaves room and key to the next one', async () => {
    const headers = { ...json, 'Idempotency-Key': 'left-behind' };
    assert.equal((await world.call('PUT /v1/secrets', headers, bodyWith(1))).status, 200);
    assert.equal(world.upstream.received.length, 1);
  });
});
