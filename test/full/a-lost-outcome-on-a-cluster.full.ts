// A write of a gateway that was killed before it answered, repeated to another one on the same Redis Cluster.

import { it } from 'node:test';
import { killInTheMiddle, neverRunsTwice, neverTakesTheKeyForAnother, start } from '../flow/replay/killed.ts';
import { startCluster } from '../support/redis-topologies.ts';

it('a lost outcome is not run again by another instance on the same Redis Cluster', async () => {
  const cluster = await start(startCluster());
  const killed = await killInTheMiddle(cluster.url);
  await neverRunsTwice(killed);
  await neverTakesTheKeyForAnother(killed);
});
