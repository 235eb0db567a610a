// A restart without the tail loses what was written last before the stop, however long the server is down.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Network } from '../engine/network.ts';
import { World } from '../engine/world.ts';
import { SimulatedRedis } from './server.ts';

for (const downMs of [0, 600_000]) {
  it(`after ${downMs} ms`, async () => {
    const world = new World({ seed: 'tail' });
    const redis = new SimulatedRedis(new Network(world), 'redis');
    redis.lag(1000);
    redis.model.execute(['set', 'early', '1']);
    await world.run(5000);
    redis.model.execute(['set', 'late', '1']);
    await world.run(5500);
    redis.stop();
    await world.run(5500 + downMs);
    redis.start('all but the tail');
    assert.equal(redis.model.execute(['get', 'early']), '1');
    assert.equal(redis.model.execute(['get', 'late']), null);
    assert.deepEqual(redis.losses(), [{ atMs: 5500 + downMs, sinceMs: 5000, tailMs: 500 }]);
  });
}
