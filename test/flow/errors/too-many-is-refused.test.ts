// Over a limit, the answer has the wait; behind a shared address, a good key does not pay for the guesses of others.

import { after, before, describe } from 'node:test';
import { runCases } from '../../support/errors.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { createWorld, type World } from '../../support/world.ts';
import { awayCases, limitCases, tightLimits } from './limit.cases.ts';
import { oneStream, streamCases, streamPaths } from './stream.cases.ts';

describe('limits', () => {
  let world: World;
  before(async () => {
    world = await createWorld(tightLimits);
  });
  after(() => world.close());

  runCases(limitCases, () => world);
});

describe('streams', () => {
  let world: World;
  before(async () => {
    world = await createWorld(oneStream, {}, streamPaths);
  });
  after(() => world.close());

  runCases(streamCases, () => world);
});

describe('counters that are away', () => {
  let redis: TestRedis;
  let world: World;
  before(async () => {
    redis = await startRedis();
    world = await createWorld({ environment: { REDIS_URL: redis.url }, limits: { whenStoreIsAway: 'refuse' } });
    // The caller has to be known: keys are in the same place.
    while ((await status(world)).keys.callers === 0) await world.call('GET /v1/things');
    world.upstream.received.length = 0;
    await redis.kill();
  });
  after(async () => {
    await world.close();
    await redis.stop();
  });

  runCases(awayCases, () => world);
});

async function status({ gateway }: World): Promise<{ keys: { callers: number } }> {
  return (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { keys: { callers: number } };
}
