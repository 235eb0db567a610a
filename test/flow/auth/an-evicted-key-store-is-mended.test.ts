// A Redis that evicts takes whole names of the key store away. No key is called unknown for that, the damage is named, and an import mends
// all of it.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import type { StoredKey } from '../../../gateway/auth/store/stored-key.ts';
import { checkRedis } from '../../../gateway/commands/doctor/redis.ts';
import type { Organization } from '../../../gateway/exchange/caller.ts';
import { startGateway } from '../../support/gateway.ts';
import { apartAt, startServer, type TestRedis } from '../../support/redis.ts';
import { askServer } from '../../support/redis-topologies.ts';
import { thingsAt } from '../../support/things.ts';
import { issue, organization, pepperFingerprint, START_MS } from '../../unit/auth/samples.ts';

/** What Redis may take, each alone and some together. `silent`: nothing in the store tells that it was there. */
const EVICTED: readonly { readonly names: readonly string[]; readonly silent?: true }[] = [
  ...[['digests'], ['keys'], ['key_order'], ['keys_of:org_acme'], ['organizations'], ['tiers'], ['organization_order']],
  ...[
    ['keys', 'key_order'],
    ['digests', 'keys'],
    ['organizations', 'tiers'],
    ['digests', 'meta'],
  ],
  ...[['keys', 'digests', 'key_order', 'organizations', 'tiers', 'organization_order', 'keys_of:org_acme', 'meta']],
]
  .map((names): { names: readonly string[]; silent?: true } => ({ names }))
  .concat(['revocations', 'ends', 'successors', 'meta', 'changes'].map((name) => ({ names: [name], silent: true })));

describe('a key store that Redis has evicted in part', () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startServer('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru');
  });
  after(() => redis.stop());

  async function filled(url: string) {
    const store = await openRedisStore({ url, pepperFingerprint, now: () => START_MS });
    for (const id of ['org_acme', 'org_b']) await store.organizations.create(organization({ id }), 'me');
    const keys = [0, 1, 2, 3, 4].map((at) => ({ ...issue().record, createdAtMs: at }));
    const [revoked, rotated, ending, plain, ofOther] = keys as [StoredKey, StoredKey, StoredKey, StoredKey, StoredKey];
    await store.seed([], [revoked, rotated, { ...ending, expiresAtMs: START_MS + 50 }, plain], 'me');
    await store.keys.create({ ...ofOther, organization: 'org_b' });
    await store.keys.revoke(revoked.id, 'me', 'leaked');
    await store.keys.rotate(rotated.id, { ...issue().record, createdAtMs: 5 }, START_MS + 1000);
    return store;
  }

  const all = async (store: KeyStore) => {
    const [keys, organizations] = [[] as StoredKey[], [] as Organization[]];
    for await (const page of store.keys.scan()) keys.push(...page);
    for await (const page of store.organizations.scan()) organizations.push(...page);
    const ofAcme = (await store.keys.list({ organization: 'org_acme' })).map(({ id }) => id);
    const found = await Promise.all(keys.map(async ({ digest }) => (await store.keys.findByDigest(digest))?.key));
    return { keys, ofAcme, found, organizations: organizations.sort((one, other) => (one.id < other.id ? -1 : 1)) };
  };

  const named = async (url: string) =>
    (await checkRedis(url, Date.now, () => undefined)).find(({ check }) => check === 'redis key store');

  for (const { names, silent } of EVICTED) {
    it(`without ${names.join(', ')}: found, named, and mended by an import`, async () => {
      const url = apartAt(redis.url);
      const prefix = new URL(url).searchParams.get('keyPrefix') ?? '';
      const store = await filled(url);
      const exported = await all(store);
      assert.equal((await named(url))?.verdict, 'ok');
      await askServer(redis.port, 'DEL', ...names.map((name) => `${prefix}{gateway}:${name}`));

      const isEmpty = names.includes('digests') && names.includes('keys');
      for (const { digest, id } of exported.keys) {
        const answers = await Promise.allSettled([store.keys.findByDigest(digest)]);
        const [answer] = answers;
        if (answer.status === 'rejected') assert.match(String(answer.reason), /index is damaged \(.+\).*keys import/);
        else if (!isEmpty) assert.equal(answer.value?.key.id, id);
      }
      if (!silent && !isEmpty) {
        const finding = await named(url);
        assert.equal(finding?.verdict, 'fail');
        assert.match(finding?.says ?? '', new RegExp(names[0] === 'keys_of:org_acme' ? 'keys_of' : (names[0] ?? '')));
      }
      await store.import(exported.organizations, exported.keys, 'me');
      assert.equal(await store.mend(), undefined);
      assert.deepEqual(await all(store), exported);
      assert.equal((await named(url))?.verdict, 'ok');
      // It can be written again.
      const { record } = issue();
      assert.equal(await store.keys.create(record), true);
      assert.equal((await store.keys.findByDigest(record.digest))?.key.id, record.id);
      await store.close();
    });
  }

  it('the import names keys that no export has', async () => {
    const url = apartAt(redis.url);
    const prefix = new URL(url).searchParams.get('keyPrefix') ?? '';
    const store = await filled(url);
    const { keys, organizations } = await all(store);
    await askServer(redis.port, 'DEL', `${prefix}{gateway}:keys`);
    await store.import(organizations, keys.slice(1), 'me');
    assert.match((await store.mend()) ?? '', /keys: 5 of 6/);
    await store.close();
  });

  it('a start warns of the policy, and a key of a damaged index gets 503', async () => {
    const url = apartAt(redis.url);
    const gateway = await startGateway({ ...thingsAt('http://127.0.0.1:9'), environment: { REDIS_URL: url } });
    const { key } = await gateway.issueKey();
    await askServer(redis.port, 'DEL', `${new URL(url).searchParams.get('keyPrefix')}{gateway}:digests`);
    const answer = await fetch(`${gateway.url}/v1/things`, { headers: { authorization: `Bearer ${key}` } });
    const { error } = (await answer.json()) as { error: { code: string } };
    assert.deepEqual([answer.status, error.code], [503, 'auth_unavailable']);
    const warning = gateway.logLines().find(({ msg }) => /^Redis evicts/.test(String(msg)));
    assert.equal(warning?.maxmemory_policy, 'allkeys-lru');
    await gateway.stop();
  });
});
