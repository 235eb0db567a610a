// For any out-of-turn reply of Redis: no request is decided by the counter of another organization, and the limits come back by themselves.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { GARBLINGS, startGarbledRedis } from '../../support/garbled-redis.ts';
import { eventually } from '../../support/instances.ts';
import { startServer } from '../../support/redis.ts';
import { limitOf, openStore } from './outage.ts';

const redis = await startServer();

after(() => redis.stop());

for (const how of GARBLINGS) {
  test(`${how}: no verdict of another organization, and Redis is up again`, async (t) => {
    const garbled = await startGarbledRedis(redis.port);
    t.after(garbled.stop);
    const { store, untilUp, changes } = await openStore(garbled.url, { deadlineMs: 500 });
    t.after(() => store.close());

    const limits = [5, 1_000_000].map((requests) => ({ requests, charges: limitOf(requests) }));
    const strange: unknown[] = [];
    async function ask(): Promise<void> {
      for (const { requests, charges } of limits) {
        const { source, states } = await store.decide(charges);
        const remaining = states[0]?.remaining ?? 0;
        if (source === 'redis' && (remaining > requests || remaining < requests - 1000)) strange.push(states);
      }
    }
    await ask();
    let isClosed = false;
    const closing = garbled.garble(how).then(() => {
      isClosed = true;
    });
    while (!isClosed) {
      await ask();
      await sleep(1);
    }
    await closing;
    await eventually(async () => changes.some(({ state }) => state === 'away'));
    await untilUp();
    await ask();
    assert.equal((await store.decide(limitOf(5))).source, 'redis');
    assert.deepEqual(strange, []);
  });
}
