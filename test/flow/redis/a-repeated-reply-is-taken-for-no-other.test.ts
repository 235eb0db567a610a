// A reply that Redis gives twice is not taken for the key or the stored answer of another caller.

import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import { createRedisReplayStore } from '../../../gateway/replay/redis-store.ts';
import { type GarbledRedis, startGarbledRedis } from '../../support/garbled-redis.ts';
import { startServer } from '../../support/redis.ts';
import { issue, organization, pepperFingerprint } from '../../unit/auth/samples.ts';

const redis = await startServer();

after(() => redis.stop());

async function throughGarbling(t: TestContext): Promise<GarbledRedis> {
  const garbled = await startGarbledRedis(redis.port);
  t.after(garbled.stop);
  return garbled;
}

test('a key is not taken for another', async (t) => {
  const garbled = await throughGarbling(t);
  const store = await openRedisStore({ url: garbled.url, pepperFingerprint, now: Date.now });
  t.after(() => store.close());
  await store.organizations.create(organization(), 'a test');
  const { record } = issue();
  await store.keys.create(record);
  assert.equal((await store.keys.findByDigest(record.digest))?.key.id, record.id);
  const closed = garbled.garble('repeated');
  await assert.rejects(async () => store.keys.findByDigest('of another key'), /^Error: .*gave a damaged reply/);
  await closed;
});

test('a stored answer is not taken for another', async (t) => {
  const garbled = await throughGarbling(t);
  const answers = await createRedisReplayStore({ url: garbled.url, onChange: () => undefined });
  t.after(() => answers.close());
  const slotOf = (digest: string) => ({ organization: 'org_a', mode: 'live', digest }) as const;
  const claim = {
    fingerprint: 'of a request',
    leaseMs: 1000,
    retainMs: 1000,
    sentAtMs: 0,
    upstream: 'one',
    runsAgain: false,
  };
  await answers.begin(slotOf('one'), { ...claim, owner: 'an owner' });
  const closed = garbled.garble('repeated');
  await assert.rejects(
    async () => answers.begin(slotOf('other'), { ...claim, owner: 'another owner' }),
    /^Error: .*gave a damaged reply/,
  );
  await closed;
});
