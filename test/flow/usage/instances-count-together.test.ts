// Three gateways on one Redis count what an organization has used as one, also when the way of one to the Redis breaks meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedisUsageStore } from '../../../gateway/usage/redis-store.ts';
import { usagePage } from '../../../gateway/usage/report.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { askWith, startInstances, untilRead } from '../../support/instances.ts';
import { startRedis, startRelay } from '../../support/redis.ts';

const start = closesAfterAll();
const REQUESTS = 60;

test('the counts of three instances add up to all requests, by key', async () => {
  const redis = await start(startRedis());
  const way = await start(startRelay(redis.url));
  const instances = await startInstances([redis.url, redis.url, way.url]);
  const keys = await Promise.all(
    ['org_a', 'org_a', 'org_b'].map((organization) => instances.gateways[0]?.issueKey({ organization })),
  );
  await untilRead(instances);
  for (let round = 0; round < REQUESTS; round += 1) {
    const answers = instances.gateways.map((gateway) => askWith(keys[round % 3]?.key ?? '', gateway));
    for (const { status } of await Promise.all(answers)) assert.equal(status, 200);
    if (round === REQUESTS / 2) await way.kill();
    if (round === REQUESTS / 2 + 5) await way.restart();
  }
  // Each writes the rest.
  await instances.close();

  const now = Date.now;
  const store = await start(createRedisUsageStore({ url: redis.url, keepDays: () => 400, now }));
  const sumsOf = async (organization: string) => {
    const question = {
      organization,
      unit: 'month',
      fromMs: now() - 1e8,
      toMs: now(),
      groups: ['key'],
      limit: 100,
    } as const;
    const { sums } = await usagePage(question, { store, keepDays: 400, nowMs: now() });
    return Object.fromEntries(sums.map(({ key, requests }) => [key, requests]));
  };
  const each = (REQUESTS / 3) * 3;
  const [one, two, other] = keys.map((key) => key?.id ?? '') as [string, string, string];
  assert.deepEqual(await sumsOf('org_a'), { [one]: each, [two]: each });
  assert.deepEqual(await sumsOf('org_b'), { [other]: each });
  assert.deepEqual(await store.marks(), []);
});
