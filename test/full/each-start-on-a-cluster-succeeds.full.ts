// A hundred starts of a gateway on a healthy Redis Cluster of six servers, and a hundred more with one of three seeds dead: all succeed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, startInstances } from '../support/instances.ts';
import { askServer, startCluster } from '../support/redis-topologies.ts';

const STARTS = 100;

async function failedStarts(url: string): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (let number = 0; number < STARTS; number += 1) {
    try {
      const instances = await startInstances([url]);
      await instances.close();
    } catch (failure) {
      failures.push(failure);
    }
  }
  return failures;
}

test(`${STARTS} starts on a healthy Cluster of six, and ${STARTS} with one seed of three dead`, async (t) => {
  const { url, servers, stop } = await startCluster({ replicas: true });
  t.after(stop);
  assert.deepEqual(await failedStarts(url), []);
  await servers[1]?.kill();
  await eventually(async () => String(await askServer(servers[4]?.port ?? 0, 'ROLE')).startsWith('master'));
  assert.deepEqual(await failedStarts(url), []);
});
