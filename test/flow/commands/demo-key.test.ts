import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { after, before, test } from 'node:test';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import { issueDemoKey } from '../../../gateway/process/demo.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { digestOf, pepperFingerprint } from '../../unit/auth/samples.ts';

let redis: TestRedis;
let store: KeyStore;
before(async () => {
  redis = await startRedis();
  store = await openRedisStore({ url: redis.url, pepperFingerprint, now: Date.now });
});
after(async () => {
  await store.close();
  await redis.stop();
});

/** The effect of a start on this data directory; nothing here lies on a sandbox. */
async function start(dataDirectory: string): Promise<string> {
  const assertionOf = async () => '';
  const key = await issueDemoKey({
    sandbox: undefined,
    assertionOf,
    store,
    digestOf,
    upstream: '',
    dataDirectory,
    now: Date.now,
  });
  const found = await store.keys.findByDigest(digestOf(key));
  return found?.key.id ?? '';
}

test('each start issues a key for 24 hours, beside those of earlier starts and of gateways that share the store', async () => {
  const [one, other] = await Promise.all([start('/data/one'), start('/data/other')]);
  assert.equal((await store.organizations.list()).length, 1);
  const again = await start('/data/one');
  const keys = await store.keys.list();
  assert.deepEqual(keys.map(({ id }) => id).sort(), [one, other, again].sort());
  for (const { revokedAtMs, expiresAtMs, createdAtMs } of keys) {
    assert.equal(revokedAtMs, undefined);
    assert.ok(Math.abs(Number(expiresAtMs) - createdAtMs - 86_400_000) < 60_000);
  }
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  assert.match(names.get(one) ?? '', new RegExp(`^demo key of ${hostname()} `));
  assert.equal(names.get(again), names.get(one));
  assert.notEqual(names.get(other), names.get(one));
});
