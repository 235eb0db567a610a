// A Redis that cannot write its snapshot refuses writes, and even PING. Doctor names its disk, and not the network.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRedis } from '../../../gateway/commands/doctor/redis.ts';
import { lookInside, refuseWrites, SNAPSHOT_SETTINGS, startServer } from '../../support/redis.ts';

test('doctor says that Redis cannot write to its disk', async (t) => {
  const redis = await startServer(...SNAPSHOT_SETTINGS);
  t.after(() => redis.stop());
  const server = lookInside(redis.url);
  t.after(() => server.disconnect());
  await refuseWrites(server);
  const [finding, ...others] = await checkRedis(redis.url, Date.now, () => undefined);
  assert.deepEqual(others, []);
  assert.match(finding?.says ?? '', /^Redis cannot write to its disk \(MISCONF\)/);
  assert.match(finding?.remedy ?? '', /^Make room on its disk; "redis-cli <redis> info persistence"/);
});
