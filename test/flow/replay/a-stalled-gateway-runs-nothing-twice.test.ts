// A gateway that stalls, stops or loses its store in the middle of a keyed write: a late result is kept, an unsent request is not sent any
// more, and an unknown outcome is reported as unknown.

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import { Trail } from '../../../gateway/exchange/trail.ts';
import { createRecordings } from '../../../gateway/replay/recording.ts';
import { createSqliteReplayStore } from '../../../gateway/replay/sqlite-store.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, requestOf, until } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { startRedis, startRelay } from '../../support/redis.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { startRawUpstream } from '../../support/upstream.ts';
import { claimOf } from './claim.ts';
import { installGateway } from './installed.ts';
import { created, createKeyedWorld, creates, type KeyedWorld, newKey, THING } from './keyed.ts';
import { newAnswerKey, RETENTION } from './store-suite.ts';

const start = closesAfterEach();

describe('a gateway that stalls past the lease of its write', () => {
  it('keeps the answer when it continues; until then the outcome is unknown', async () => {
    const redis = await start(startRedis());
    const sockets: Socket[] = [];
    // It stalls as soon as the request arrives, so that its timeout cannot pass before.
    const onRequest = (socket: Socket) => {
      sockets.push(socket);
      stalled.child.kill('SIGSTOP');
    };
    const upstream = await start(startRawUpstream(onRequest));
    const installed = await start(installGateway(upstream.url, redis.url, { timeoutMs: 1000 }));
    const stalled = await start(installed.start());
    const other = await start(installed.startAnother());
    const first = installed.post(stalled.port);
    await until(() => sockets.length === 1);
    sockets[0]?.write(httpAnswer(201, '{"id":"first"}'));
    assertRefusal(await installed.insist(other.port), 'idempotency_outcome_unknown');
    stalled.child.kill('SIGCONT');
    assert.equal((await first).status, 201);
    const again = await installed.post(other.port);
    assert.deepEqual([again.status, again.headers['idempotent-replayed']], [201, 'true']);
    assert.equal(String(again.body), '{"id":"first"}');
    assert.equal(sockets.length, 1, 'executed once');
  });

  it('does not send an unsent request, and frees the key', async (t) => {
    const directory = temporaryDirectory();
    const store = createSqliteReplayStore({ directory, now: Date.now, onChange: () => undefined });
    t.after(() => store.close());
    const recordings = createRecordings({ store, retention: RETENTION, bodyBytesMax: 1000 });
    const [answerKey, claim, trail] = [newAnswerKey(), claimOf('f', 'me', 60_000), new Trail('me', 'POST')];
    const exchange = { state: trail, trail, operation: { once: undefined } as Operation };
    await store.begin(answerKey, claim);
    const recording = recordings.recordingOf({ answerKey, claim, leaseEndsAt: performance.now() }, exchange);
    assert.throws(() => recording.sent(), { code: 'gateway_overloaded' });
    await recording.endWithoutAnswer(new Error('anything'));
    assert.deepEqual([trail.rare, trail.isUnprotected], [undefined, false]);
    assert.equal((await store.begin(answerKey, claimOf('f', 'you', 60_000))).state, 'started');
  });
});

describe('a gateway that stops in the middle of a write', () => {
  it('reports the outcome as unknown, and the next one gets that at once', async () => {
    const dataDirectory = temporaryDirectory();
    const gateway = { timeouts: { drainMs: 100, drainDelayMs: 0 } };
    const world = await createKeyedWorld({ dataDirectory, gateway }, { timeoutMs: 1000 });
    await start(world.upstream);
    world.upstream.plays(() => {});
    const key = newKey();
    const lost = world.post({ key }).catch(() => undefined);
    await until(() => world.upstream.received.length === 1);
    await world.gateway.stop();
    await lost;
    world.upstream.plays(creates);
    const next = await start(startGateway({ ...thingsAt(world.upstream.url), dataDirectory }));
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key, Authorization: world.authorization };
    const again = await ask(next.port, requestOf('POST /v1/things', headers, THING));
    assertRefusal(again, 'idempotency_outcome_unknown');
    assert.equal(world.upstream.received.length, 1);
  });
});

describe('a gateway that loses its Redis', () => {
  async function startWorld() {
    const server = await start(startRedis());
    const redis = await start(startRelay(server.url));
    const world = await start(createKeyedWorld({ environment: { REDIS_URL: redis.url } }, { timeoutMs: 500 }));
    // An answer of the store is not cached when a change arrives meanwhile, and a caller that is not cached gets auth_unavailable
    // while Redis is away. On a slow machine a write may also be refused, because Redis answers too late.
    let status: number;
    do ({ status } = await world.post());
    while (status !== 201 || (await callersCached(world.gateway)) === 0);
    return { redis, world, writesBefore: world.upstream.received.length };
  }

  /** Again with another key while Redis answers too late for the write to be sent. */
  async function write(world: KeyedWorld, reached: Promise<Socket>) {
    for (;;) {
      const key = newKey();
      const first = world.post({ key });
      const socket = await Promise.race([reached, first.then(() => undefined)]);
      if (socket !== undefined) return { key, first, socket };
    }
  }

  async function callersCached({ app }: TestGateway): Promise<number> {
    const { keys } = (await app.operators.status()) as { keys: { callers: number } };
    return keys.callers;
  }

  /** Until the store can be read again, and the first attempt is not in progress any more. */
  async function insist(world: Awaited<ReturnType<typeof startWorld>>['world'], key: string) {
    for (;;) {
      const answer = await world.post({ key });
      const passing = ['gateway_overloaded', 'auth_unavailable', 'idempotency_key_in_use'];
      if (!passing.includes(String(answer.error.code))) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  it('before it gets the confirmation of the key sends nothing, and frees the key as soon as Redis is back', async () => {
    const { redis, world, writesBefore } = await startWorld();
    const key = newKey();
    // The key gets there, and no answer comes back.
    redis.slowDown(60_000);
    assertRefusal(await world.post({ key }), 'gateway_overloaded');
    await redis.kill();
    redis.slowDown(0);
    await redis.restart();
    const answer = await insist(world, key);
    assert.deepEqual([answer.status, answer.headers['idempotent-replayed']], [201, undefined]);
    assert.equal(world.upstream.received.length, writesBefore + 1);
  });

  it('before it gets the unknown outcome reports it when Redis is back', async () => {
    const { redis, world, writesBefore } = await startWorld();
    const reached = Promise.withResolvers<Socket>();
    world.upstream.plays((socket) => reached.resolve(socket));
    const { key, first, socket } = await write(world, reached.promise);
    await redis.kill();
    socket.destroy();
    assert.equal((await first).error.retryable, false);
    world.upstream.plays((socket) => socket.write(created()));
    await redis.restart();
    assertRefusal(await insist(world, key), 'idempotency_outcome_unknown');
    assert.equal(world.upstream.received.length, writesBefore + 1);
  });
});
