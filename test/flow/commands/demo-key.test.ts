import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import { issueDemoKey } from '../../../gateway/process/demo.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { startRedis } from '../../support/redis.ts';
import { digestOf, pepperFingerprint } from '../../unit/auth/samples.ts';

const opened = closesAfterAll();
const redis = await opened(startRedis());
const store = await opened(openRedisStore({ url: redis.url, pepperFingerprint, now: Date.now }));

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

test('each start issues a key for 24 hours, and keys of other starts and gateways stay valid', async () => {
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
