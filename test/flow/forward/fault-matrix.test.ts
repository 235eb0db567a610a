// Every fault × every method × with and without an Idempotency-Key × an upstream that honours it or not: the client gets one answer of the
// catalogue, and no write is carried out twice unless the upstream declares that this does no harm.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, openConnection, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { httpAnswer, type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { unusedPort } from '../../support/upstream.ts';
import { createWorld, type World } from '../../support/world.ts';
import { type Fault, faults, hangs } from './faults.ts';
import { bytesOf, type ItemRequest, isHeld, isSafe, itemPaths, itemRequests, timesOf } from './items.ts';

/** More than can be spent, and no request is refused: budget, ejection and breaker have tests of their own. */
const plenty = { retry: { attempts: 2, budgetPercent: 500 }, connections: 64, ejection: 'off', breaker: 'off' };
/** Long enough for a request to be written on a busy machine. */
const shortTimeouts = { firstByteTimeoutMs: 500, idleTimeoutMs: 500 };

/** The answer to one request, and that nothing comes behind it. */
async function askOnce(port: number, one: ItemRequest, authorization: string): Promise<Answer | undefined> {
  const connection = await openConnection(port);
  connection.send(bytesOf(one, authorization));
  const answer = await connection.answer({ hasBody: one.method !== 'HEAD' });
  connection.socket.end();
  await connection.closed;
  assert.equal(answer === undefined || answer.whole === false || connection.rest().length === 0, true, 'one answer');
  return answer;
}

function assertAnswer(one: ItemRequest, answer: Answer | undefined, expected: Fault['answer']): void {
  if (expected === 'cut') {
    assert.ok(answer === undefined || (answer.status === 200 && !answer.whole), 'an answer without an end');
    return;
  }
  assert.ok(answer, 'an answer');
  if (expected === 'success') assert.equal(answer.status, 200);
  else if (one.method === 'HEAD') assert.equal(answer.headers['x-error-code'], expected);
  else assertRefusal(answer, expected);
}

/** Opens the connections, so that no time of the test goes into connecting. On a busy machine the upstream may answer too late at first. */
async function connect(world: World): Promise<void> {
  world.upstream.plays((socket) => setTimeout(() => socket.write(httpAnswer(200, '{}')), 20));
  await until(async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, () => world.call('GET /v1/things')));
    return answers.every(({ status }) => status === 200);
  });
}

const inTurn = { concurrency: 1 };

function matrix(honoursIdempotencyKey: boolean, entry: object, all: readonly Fault[]): void {
  let world: World;
  before(async () => {
    world = await createWorld({}, { ...plenty, ...entry, honoursIdempotencyKey }, itemPaths);
  });
  after(() => world.close());

  for (const { name, script, answer, answerIfHeld, repeated } of all) {
    it(name, async () => {
      await connect(world);
      const from = world.upstream.received.length;
      world.upstream.plays(script);
      const requests = itemRequests();
      const answers = await Promise.all(requests.map((one) => askOnce(world.gateway.port, one, world.authorization)));
      const received = world.upstream.received.slice(from);
      requests.forEach((one, index) => {
        const isLate = answerIfHeld !== undefined && isHeld(one);
        const isRepeated = (repeated || isLate) && isSafe(one, honoursIdempotencyKey);
        assertAnswer(one, answers[index], isLate ? answerIfHeld : answer);
        assert.equal(timesOf(one, received), isRepeated ? 3 : 1, `${one.method} ${one.keyed ? 'with' : 'without'} key`);
      });
    });
  }
}

describe('every fault', { concurrency: true }, () => {
  for (const honours of [false, true]) {
    describe(`of an upstream that ${honours ? 'honours' : 'ignores'} Idempotency-Key`, { concurrency: true }, () => {
      describe('that fails', inTurn, () => matrix(honours, {}, faults));
      describe('that hangs', inTurn, () => matrix(honours, shortTimeouts, hangs));
    });
  }
});

describe('an upstream that resets connections before it has read anything', () => {
  it('gets nothing, and the client gets that much', async () => {
    const world = await createWorld({}, plenty, itemPaths);
    world.upstream.welcomes((socket) => socket.resetAndDestroy());
    const requests = itemRequests();
    const answers = await Promise.all(requests.map((one) => askOnce(world.gateway.port, one, world.authorization)));
    requests.forEach((one, index) => {
      const answer = answers[index];
      // Whether the request was written before the reset was noticed is a matter of microseconds.
      assert.match(String(answer?.headers['x-error-code']), /^upstream_(unreachable|bad_response)$/);
      assert.ok(timesOf(one, world.upstream.received) <= (isSafe(one, false) ? 3 : 1));
    });
    await world.close();
  });
});

describe('an upstream address without a listener', () => {
  it('is unreachable, for every request', async () => {
    const world = await createWorld(thingsAt(`http://127.0.0.1:${await unusedPort()}`, plenty, itemPaths));
    const requests = itemRequests();
    const answers = await Promise.all(requests.map((one) => askOnce(world.gateway.port, one, world.authorization)));
    requests.forEach((one, index) => void assertAnswer(one, answers[index], 'upstream_unreachable'));
    await world.close();
  });
});

describe('with another target that is well', () => {
  let world: World;
  let faulty: ScriptedUpstream;
  let other: ScriptedUpstream;
  before(async () => {
    faulty = await startScriptedUpstream();
    other = await startScriptedUpstream();
    // The one that is well has so long: a pause of the process is not to make it hang too.
    const entry = { ...plenty, firstByteTimeoutMs: 1000, honoursIdempotencyKey: true };
    world = await createWorld(thingsAt([faulty.url, other.url], entry, itemPaths));
  });
  after(async () => {
    await world.close();
    await faulty.close();
    await other.close();
  });

  for (const { name, script } of [...faults, ...hangs].filter(({ repeated }) => repeated)) {
    it(`every request succeeds that can be sent again: ${name}`, async () => {
      faulty.plays(script);
      const requests = itemRequests();
      const answers = await Promise.all(requests.map((one) => askOnce(world.gateway.port, one, world.authorization)));
      requests.forEach((one, index) => {
        const [itself, elsewhere] = [timesOf(one, faulty.received), timesOf(one, other.received)];
        assert.ok(itself <= 1 && elsewhere <= 1, 'never twice to the same target');
        if (isSafe(one, true)) assert.deepEqual([answers[index]?.status, elsewhere], [200, 1], one.method);
        else assert.equal(itself + elsewhere, 1, 'and no write twice');
      });
      assert.ok(requests.some((one) => timesOf(one, faulty.received) === 1));
    });
  }

  it('a write succeeds too if it was never sent', async () => {
    const at = thingsAt([`http://127.0.0.1:${await unusedPort()}`, other.url], plenty, itemPaths);
    const alone = await createWorld(at);
    for (const one of itemRequests()) {
      assert.equal((await askOnce(alone.gateway.port, one, alone.authorization))?.status, 200, one.method);
      assert.equal(timesOf(one, other.received), 1);
    }
    await alone.close();
  });
});
