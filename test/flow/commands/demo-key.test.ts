import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { after, before, test } from 'node:test';
import { openRedisStore } from '../../../gateway/auth/store/redis/store.ts';
import type { KeyStore } from '../../../gateway/auth/store/store.ts';
import { issueDemoKey } from '../../../gateway/commands/demo.ts';
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

test('gateways that share a store each replace only their own demo key, however many start at once', async () => {
  const [one, other] = await Promise.all([start('/data/one'), start('/data/other')]);
  assert.equal((await store.organizations.list()).length, 1);
  assert.equal((await store.keys.get(one))?.revokedAtMs, undefined);
  assert.equal((await store.keys.get(other))?.revokedAtMs, undefined);
  const again = await start('/data/one');
  assert.equal((await store.keys.get(one))?.revokedReason, 'replaced by the key of a later start');
  assert.equal((await store.keys.get(other))?.revokedAtMs, undefined);
  const names = (await store.keys.list()).map(({ name }) => name);
  assert.ok(names.every((name) => name.startsWith(`demo key of ${hostname()} `)));
  assert.equal((await store.keys.get(again))?.name, (await store.keys.get(one))?.name);
  assert.equal(new Set(names).size, 2);
});
