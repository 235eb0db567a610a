// A Redis that cannot write its snapshot refuses writes, and even PING. Doctor names its disk, and not the network.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { checkRedis } from '../../../gateway/commands/doctor/redis.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { eventually } from '../../support/instances.ts';
import { lookInside, startServer } from '../../support/redis.ts';

test('doctor says that Redis cannot write to its disk', async (t) => {
  const redis = await startServer('--save', '3600 1', '--enable-protected-configs', 'yes');
  t.after(() => redis.stop());
  const server = lookInside(redis.url);
  t.after(() => server.disconnect());
  const gone = temporaryDirectory();
  await server.config('SET', 'dir', gone);
  rmSync(gone, { recursive: true });
  await server.set('any', 'value');
  await server.bgsave();
  await eventually(async () => /rdb_last_bgsave_status:err/.test(await server.info('persistence')));
  const [finding, ...others] = await checkRedis(redis.url, Date.now, () => undefined);
  assert.deepEqual(others, []);
  assert.match(finding?.says ?? '', /^Redis cannot write to its disk \(MISCONF\)/);
  assert.match(finding?.remedy ?? '', /^Make room on its disk; "redis-cli <redis> info persistence"/);
});
