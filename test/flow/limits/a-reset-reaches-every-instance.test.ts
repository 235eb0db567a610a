// A reset empties the counters in Redis, and every gateway that remembers a refusal drops it within a second.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closesAfterAll } from '../../support/closing.ts';
import { askWith, type Instances, startInstances, untilAll, untilRead } from '../../support/instances.ts';
import { startRedis } from '../../support/redis.ts';

const start = closesAfterAll();
const redis = await start(startRedis());
const limits = { tiers: { standard: { requests: 4, windowSeconds: 60 } } };
const instances = await start(startInstances([redis.url, redis.url], { limits }));

test('an organization refused on both instances is admitted on both, up to the limit and not beyond', async () => {
  const [one, other] = instances.gateways as [Instances['gateways'][0], Instances['gateways'][0]];
  const { key } = await one.issueKey({ organization: 'org_acme' });
  await untilRead(instances);
  const statuses = async () => [(await askWith(key, one)).status, (await askWith(key, other)).status];
  for (let i = 0; i < 2; i += 1) assert.deepEqual(await statuses(), [200, 200]);
  // Sent twice: the second refusal is made from memory.
  for (let i = 0; i < 2; i += 1) assert.deepEqual(await statuses(), [429, 429]);

  const answer = await fetch(`${one.adminUrl}/limits/reset?organization=org_acme&by=ada`, { method: 'POST' });
  assert.deepEqual(await answer.json(), { organization: 'org_acme', counters: 2 });
  const tookMs = await untilAll(instances, key, ({ status }) => status === 200);
  assert.ok(tookMs < 1_000, `took ${tookMs} ms`);

  // Both have been let in once by now.
  assert.deepEqual(await statuses(), [200, 200]);
  assert.deepEqual(await statuses(), [429, 429]);
});
