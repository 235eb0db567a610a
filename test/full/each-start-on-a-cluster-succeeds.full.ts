// A hundred starts of a gateway on a healthy Redis Cluster of six servers, and a hundred more with one of three seeds dead: all succeed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startInstances } from '../support/instances.ts';
import { startCluster } from '../support/redis-topologies.ts';

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
  const { url, failOver, stop } = await startCluster({ replicas: true });
  t.after(stop);
  assert.deepEqual(await failedStarts(url), []);
  await failOver(1);
  assert.deepEqual(await failedStarts(url), []);
});
