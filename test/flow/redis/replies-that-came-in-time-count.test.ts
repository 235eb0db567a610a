// A command that has a timeout gets its reply also if this process stood still until the timeout was over; without a reply it fails.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connectRedis, type Redis } from '../../../gateway/redis/client.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { standStill } from '../../support/stand-still.ts';

const TIMEOUT_MS = 200;
let redis: TestRedis;
let client: Redis;

before(async () => {
  redis = await startRedis();
  const ready = Promise.withResolvers<void>();
  client = connectRedis({ url: redis.url, commandTimeoutMs: TIMEOUT_MS, onReady: ready.resolve });
  await ready.promise;
});
after(async () => {
  client.disconnect();
  await redis.stop();
});

describe('a command', () => {
  it('gets the reply that came while this process stood still', async () => {
    // Timers are next behind this, and sockets after them.
    await new Promise((resolve) => setImmediate(resolve));
    const reply = client.set('some', 'thing');
    standStill(2 * TIMEOUT_MS);
    assert.equal(await reply, 'OK');
  });

  it('fails without a reply in time', async () => {
    redis.pause();
    try {
      await assert.rejects(client.get('some'), { message: 'Command timed out' });
    } finally {
      redis.resume();
    }
  });
});
