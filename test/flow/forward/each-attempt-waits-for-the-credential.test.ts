// A request that is sent more than once waits for the credential each time, and so does the handshake of a WebSocket after its time in the
// queue. Here the credential is a latched one, whose next probe has become due.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { until } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertRefusal } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';
import { type End, HANDSHAKE, openWebSocket } from '../tunnel/open-ends.ts';

let nowMs = Date.now();
/** Lets more time pass than the schedule of probes waits. */
function passTime(): void {
  nowMs += 3_600_000;
}

describe('a request with a latched credential', () => {
  let world: World;
  before(async () => {
    const secrets = temporaryDirectory();
    writeFileSync(join(secrets, 'keeper_password'), 'of the keeper');
    const answers = [
      // biome-ignore lint/suspicious/noThenProperty: the key of the file
      { when: { status: 403 }, then: { credential: 'refused' } },
      // biome-ignore lint/suspicious/noThenProperty: the key of the file
      { when: { status: 409 }, then: { code: 'upstream_overloaded', retry: true } },
    ];
    world = await createWorld(
      { environment: { SECRETS_DIR: secrets }, now: () => nowMs },
      { credential: { basic: { user: 'keeper', secret: 'keeper_password' } }, answers },
    );
  });
  after(() => world.close());
  beforeEach(async () => {
    world.upstream.plays((socket) => socket.write(httpAnswer(403, '{}')));
    assertRefusal(await world.call('GET /v1/things'), 'upstream_auth_failed');
    world.upstream.received.length = 0;
    passTime();
  });

  for (const [name, status] of Object.entries({ 'retried after 503': 503, 'repeated by a rule': 409 }))
    it(`is ${name} as another probe`, async () => {
      world.upstream.plays((socket) => {
        passTime();
        socket.write(httpAnswer(world.upstream.received.length === 1 ? status : 200, '{}'));
      });
      assert.equal((await world.call('GET /v1/things')).status, 200);
      assert.equal(world.upstream.received.length, 2);
    });
});

const room = {
  operationId: 'joinRoom',
  'x-gateway-upgrade': 'websocket',
  security: [{ apiKey: ['things:read'] }],
  responses: { 101: { description: 'messages' } },
};

describe('a handshake with a latched credential', () => {
  let world: World;
  const answers: Socket[] = [];
  const BREAKER_OPEN_MS = 1000;

  const handshake = async () =>
    refusalOf(
      await openWebSocket(world.gateway.port, '/v1/room', [...HANDSHAKE, `Authorization: ${world.authorization}`]),
    );
  async function refusalOf(client: End): Promise<string> {
    await client.ended;
    client.destroy();
    return client.received().toString();
  }
  /** Sends requests that are in progress together, and answers each with one of the statuses, in this order. */
  async function answerTogether(...statuses: number[]): Promise<void> {
    answers.length = 0;
    world.upstream.plays((socket) => void answers.push(socket));
    const calls = statuses.map(() => world.call('GET /v1/things'));
    await until(() => answers.length === statuses.length);
    for (const [i, status] of statuses.entries()) {
      answers[i]?.write(httpAnswer(status, '{}'));
      await until(() => world.gateway.logLines().filter((line) => line.upstream_status === status).length > 0);
    }
    await Promise.all(calls);
  }

  beforeEach(async () => {
    const secrets = temporaryDirectory();
    writeFileSync(join(secrets, 'keeper_password'), 'of the keeper');
    world = await createWorld(
      { environment: { SECRETS_DIR: secrets }, now: () => nowMs },
      {
        credential: { basic: { user: 'keeper', secret: 'keeper_password' } },
        // biome-ignore lint/suspicious/noThenProperty: the key of the file
        answers: [{ when: { status: 403 }, then: { credential: 'refused' } }],
        retry: { attempts: 0 },
        breaker: { failurePercent: 1, requestsMin: 2, windowSeconds: 60, openSeconds: (BREAKER_OPEN_MS * 32) / 1000 },
      },
      { '/v1/room': { get: room } },
    );
    assert.equal((await world.call('GET /v1/things')).status, 200);
  });
  afterEach(() => world.close());

  it('leaves the probe to the next request if the breaker is open', async () => {
    await answerTogether(403, 503);
    passTime();
    assert.match(await handshake(), /upstream_unavailable/);
    await setTimeout(BREAKER_OPEN_MS);
    world.upstream.plays((socket) => socket.write(httpAnswer(200, '{}')));
    assert.equal((await world.call('GET /v1/things')).status, 200);
  });
});
