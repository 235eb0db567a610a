// A server that takes over may have a clock that is a little behind. The lease of the instance that orders certificates is still held.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AcmeStore } from '../../gateway/acme/acme-store.ts';
import { openRedisAcmeStore } from '../../gateway/acme/redis-acme-store.ts';
import { Deployment } from './deployment.ts';
import { World } from './engine/world.ts';

const LEASE_MS = 20_000;

/** Returns what another instance gets after a failover to a clock that differs by so much: the token of the lease, or undefined. */
async function takenAfterFailover(clockDiffersMs: number): Promise<number | undefined> {
  const world = new World({ seed: String(clockDiffersMs) });
  const stores: AcmeStore[] = [];
  const { redis } = new Deployment(world, 2, async (_place, { machine }, connect) => {
    stores.push(await openRedisAcmeStore('redis://simulated', connect, machine));
  });
  await world.run(1000);
  const [holder, other] = stores as [AcmeStore, AcmeStore];
  const held = Promise.resolve(holder.take(LEASE_MS));
  await world.run(2000);
  assert.notEqual(await held, undefined);
  redis.failOver(clockDiffersMs);
  await world.run(4000);
  const taken = Promise.resolve(other.take(LEASE_MS));
  await world.run(6000);
  return taken;
}

it('the lease stays taken after a failover to a clock that is behind by some seconds', async () => {
  for (const byMs of [0, -500, -10_000]) assert.equal(await takenAfterFailover(byMs), undefined, `${byMs} ms`);
});

it('a lease that was written before the clock was set back by an hour does not last an hour', async () => {
  assert.notEqual(await takenAfterFailover(-3_600_000), undefined);
});
