// A failover loses the lease of certificates that an instance has just taken, with its token.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openRedisAcmeStore } from '../../../gateway/acme/redis-acme-store.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { lookInside, startServer } from '../../support/redis.ts';

const start = closesAfterEach();
const LEASE_MS = 20_000;
const LEASE = '{gateway}:acme:lease';

it('another instance takes it, and the first one has no lease', async () => {
  const redis = await start(startServer());
  const [first, second] = [await start(openRedisAcmeStore(redis.url)), await start(openRedisAcmeStore(redis.url))];
  const inside = lookInside(redis.url);
  await start({ close: async () => inside.disconnect() });
  await inside.hset(LEASE, 'token', 4_000_000_000);
  const before = await inside.hgetall(LEASE);
  const token = (await first.take(LEASE_MS)) ?? 0;
  assert.equal(await first.confirm(token, LEASE_MS), true);
  await inside.multi().del(LEASE).hset(LEASE, before).exec();
  const next = (await second.take(LEASE_MS)) ?? 0;

  assert.equal(await first.confirm(token, LEASE_MS), false);
  assert.equal(await first.write(token, { record: 'of the first' }), false);
  await first.release(token);
  assert.equal(await second.confirm(next, LEASE_MS), true);
  assert.equal(await second.write(next, { record: 'of the second' }), true);
});
