// Keys, secrets and idempotent answers on a Cluster and under Sentinels, as on one server.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { openRedisStore } from '../../gateway/auth/store/redis/redis-key-store.ts';
import { createSecretsInRedis } from '../../gateway/config/secrets/secrets-redis.ts';
import { createRedisReplayStore } from '../../gateway/replay/redis-store.ts';
import { claimOf } from '../flow/replay/claim.ts';
import { startCluster, startWatched } from '../support/redis-topologies.ts';

for (const [name, start] of [
  ['a Cluster', startCluster],
  ['Sentinels', startWatched],
] as const) {
  test(`${name}: secrets are made once, changes are announced, and an idempotent write runs once`, async (t) => {
    const { url, stop } = await start();
    t.after(stop);

    const secrets = createSecretsInRedis({ url, patienceMs: 3000 });
    assert.equal(await secrets.make('cursor_secret', 'first'), 'first');
    assert.equal(await secrets.make('cursor_secret', 'second'), 'first');

    const open = () => openRedisStore({ url, pepperFingerprint: 'of a pepper', now: Date.now });
    const [store, other] = await Promise.all([open(), open()]);
    t.after(() => Promise.all([store.close(), other.close()]));
    const listening = Promise.withResolvers<void>();
    let heard: () => void = listening.resolve;
    t.after(other.audit.subscribe(() => heard()));
    await listening.promise;
    const announced = new Promise<void>((resolve) => {
      heard = resolve;
    });
    await store.organizations.create(
      { id: 'org_a', name: 'A', tier: 'standard', state: 'active', operator: false, contacts: [] },
      'a test',
    );
    await announced;
    assert.equal((await other.audit.since(0, 10)).latest, 1);

    const answers = await createRedisReplayStore({ url, onChange: () => undefined });
    t.after(() => answers.close());
    for (const organization of ['org_1', 'org_2', 'org_3', 'org_4', 'org_5', 'org_6']) {
      const slot = { organization, mode: 'live', digest: randomUUID() } as const;
      assert.equal((await answers.begin(slot, claimOf('fingerprint', 'one', 1000))).state, 'started');
      assert.equal((await answers.begin(slot, claimOf('fingerprint', 'other', 1000))).state, 'running');
    }
  });
}
