// A write that might run twice does not run at all while its record cannot be read; one that the upstream itself runs once goes on.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { type Relay, startRedis, startRelay, type TestRedis } from '../../support/redis.ts';
import { headersOf } from '../../support/scripted-upstream.ts';
import { explainer } from '../explain/explained.ts';
import { created, createKeyedWorld, creates, type KeyedWorld, newKey } from './keyed.ts';

interface Status {
  readonly keys: { readonly position: number };
  readonly idempotency: { readonly kind: string; readonly state: string };
}

const isAway = ({ idempotency }: Status) => idempotency.state === 'away';
const isUp = ({ idempotency }: Status) => idempotency.kind === 'redis' && idempotency.state === 'up';

/** Polls /status. */
async function untilStatus({ gateway }: KeyedWorld, holds: (status: Status) => boolean): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (holds((await (await fetch(`${gateway.adminUrl}/status`)).json()) as Status)) return;
    await sleep(10);
  }
  assert.fail('the status does not reach the expected state');
}

/** Sends a write until it is let through: on a busy machine Redis may answer too late. */
async function insist({ post }: KeyedWorld, key: string): Promise<Answer> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await post({ key });
    if (answer.status < 400) return answer;
    await sleep(20);
  }
  return assert.fail('the key stays locked');
}

const honours = { honoursIdempotencyKey: true };

describe('while Redis is away', () => {
  let server: TestRedis;
  /** A server that is killed would forget its keys; a way to it that is cut is as good. */
  let redis: Relay;
  beforeEach(async () => {
    server = await startRedis();
    redis = await startRelay(server.url);
  });
  afterEach(async () => {
    await redis.stop();
    await server.stop();
  });

  async function withWorld(entry: object, work: (world: KeyedWorld) => Promise<void>): Promise<void> {
    const world = await createKeyedWorld({ environment: { REDIS_URL: redis.url } }, entry);
    try {
      // The caller has to be cached when the key store is away too, so everything about it has to be read before.
      const { latest } = await world.gateway.store.audit.since(Number.MAX_SAFE_INTEGER, 1);
      await untilStatus(world, ({ keys }) => keys.position >= latest);
      assert.equal((await insist(world, newKey())).status, 201);
      await work(world);
    } finally {
      redis.resume();
      await world.close();
    }
  }

  it('a write with a key is refused before it is sent, other requests work; afterwards the write runs', () =>
    withWorld({}, async (world) => {
      const key = newKey();
      await redis.kill();
      await untilStatus(world, isAway);
      const before = world.upstream.received.length;
      const refused = await world.post({ key });
      assertRefusal(refused, 'gateway_overloaded');
      const [story] = await explainer(world.gateway).stories(String(refused.headers['x-request-id']));
      assert.equal(story?.next?.runbook, 'GatewayKeyStoreAway');
      assert.equal(world.upstream.received.length, before);
      const unkeyed = await world.call('POST /v1/things', { 'Content-Type': 'application/json' }, '{"name":"a"}');
      assert.equal(unkeyed.status, 201);
      await redis.restart();
      await untilStatus(world, isUp);
      assert.equal((await insist(world, key)).status, 201);
      assert.equal((await insist(world, key)).headers['idempotent-replayed'], 'true');
    }));

  it('a write toward an upstream that honours keys is sent on, with its key', () =>
    withWorld(honours, async (world) => {
      const key = newKey();
      await redis.kill();
      await untilStatus(world, isAway);
      const answer = await world.post({ key });
      assert.deepEqual([answer.status, answer.headers['idempotent-replayed']], [201, undefined]);
      assert.equal(headersOf(world.upstream.received.at(-1) as string).get('idempotency-key'), key);
      await redis.restart();
    }));

  it('a store that does not answer costs a tenth of a second, and leaves nothing behind', () =>
    withWorld({}, async (world) => {
      const key = newKey();
      redis.pause();
      const startedAt = performance.now();
      assertRefusal(await world.post({ key }), 'gateway_overloaded');
      assert.ok(performance.now() - startedAt < 5000);
      redis.resume();
      await untilStatus(world, isUp);
      // A command sent meanwhile may reach it now.
      const answer = await insist(world, key);
      assert.equal(answer.headers['idempotent-replayed'], undefined);
    }));

  it('a store that goes away while the upstream works does not keep the client waiting, and the outcome is kept later', () =>
    withWorld({}, async (world) => {
      const key = newKey();
      const reached = Promise.withResolvers<() => void>();
      const answer = created();
      world.upstream.plays((socket) => reached.resolve(() => socket.write(answer)));
      const first = world.post({ key });
      const finish = await reached.promise;
      redis.pause();
      finish();
      assert.equal((await first).status, 201);
      world.upstream.plays(creates);
      redis.resume();
      await untilStatus(world, isUp);
      const again = await insist(world, key);
      assert.deepEqual([again.status, again.headers['idempotent-replayed']], [201, 'true']);
      assert.ok(answer.endsWith(String(again.body)));
    }));
});
