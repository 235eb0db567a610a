// A failover loses the lease of a refresh with the last writes of Redis: its holder restores it when it renews it, unless another process
// has the lease now.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRedisSessionStore } from '../../../gateway/sessions/store/redis/redis-session-store.ts';
import type { RefreshLease, RefreshTake } from '../../../gateway/sessions/store/session-store.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { lookInside, startServer } from '../../support/redis.ts';
import { ring, signIn } from './store-samples.ts';

const start = closesAfterEach();
const LEASE_MS = 5000;
const TERMS = { forMs: LEASE_MS, notAfterMs: Number.MAX_SAFE_INTEGER, reuseMs: 0 };

function leaseIn(taken: RefreshTake): RefreshLease {
  if (taken.state !== 'taken') assert.fail(`the lease is ${taken.state}`);
  return taken.lease;
}

async function begin() {
  const redis = await start(startServer());
  const store = await start(openRedisSessionStore({ url: redis.url, keys: ring }));
  const inside = lookInside(redis.url);
  await start({ close: () => inside.disconnect() });
  const session = await signIn(store);
  const take = (owner: string, terms = TERMS) => store.refreshes.take(session, owner, terms);

  /** Does something, and then loses all that was written meanwhile. */
  async function lose<T>(work: () => Promise<T>): Promise<T> {
    const names = await inside.keys('*');
    const kept = await Promise.all(names.map(async (name) => [name, await inside.dumpBuffer(name)] as const));
    const result = await work();
    for (const [name, value] of kept) await inside.restore(name, 0, value as Buffer, 'REPLACE');
    return result;
  }

  return { store, take, lose };
}

describe('a lease that Redis has lost', () => {
  it('is restored, with the note that its token was sent', async () => {
    const { store, take, lose } = await begin();
    const lease = await lose(async () => leaseIn(await take('one')));
    assert.equal(await store.refreshes.renew(lease, 30, 0), true);
    await sleep(60);
    assert.equal((await take('two')).state, 'unknown');
  });

  it('is restored although the store has the ended lease of a process before', async () => {
    const { store, take, lose } = await begin();
    await take('dead', { ...TERMS, forMs: 30 });
    await sleep(60);
    const lease = await lose(async () => leaseIn(await take('one')));
    assert.equal(await store.refreshes.renew(lease, 30, 0), true);
    await sleep(60);
    assert.equal((await take('two')).state, 'unknown');
  });

  it('is not restored if another process has taken the lease since', async () => {
    const { store, take, lose } = await begin();
    const lease = await lose(async () => leaseIn(await take('one')));
    const other = leaseIn(await take('two'));
    assert.equal(await store.refreshes.renew(lease, LEASE_MS, 0), false);
    // As after a clock that was set back, by which the other one has the smaller fence.
    const ahead = { ...lease, fence: other.fence + 100 };
    assert.equal(await store.refreshes.renew(ahead, LEASE_MS, 0), false);
    assert.equal(await store.refreshes.renew(other, 30, 0), true);
    await sleep(60);
    // The lease of the other one has ended, but it may have sent the token.
    assert.equal(await store.refreshes.renew(ahead, LEASE_MS, 0), false);
  });
});
