import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import { apartAt, lookInside, startRedis, wipe } from '../../support/redis.ts';
import { issue, organization, pepperFingerprint, START_MS, until } from '../../unit/auth/samples.ts';
import { keyStoreSuite } from './key-store-suite.ts';

const redis = await startRedis();

after(() => redis.stop());

async function open(t: TestContext, url = apartAt(redis.url), fingerprint = pepperFingerprint) {
  const store = await openRedisStore({ url, pepperFingerprint: fingerprint, now: () => START_MS });
  t.after(() => store.close());
  return store;
}

keyStoreSuite('Redis', open);

test('another pepper refuses to open, with the reason and the remedy', async (t) => {
  const url = apartAt(redis.url);
  await open(t, url);
  await assert.rejects(
    open(t, url, 'another'),
    /^Error: The key store redis:\/\/127\.0\.0\.1:\S+ cannot be opened: it was made with another key_pepper.*use another Redis\.$/,
  );
});

test('a newer schema refuses to open, and stops the stores that have it open', async (t) => {
  const url = apartAt(redis.url);
  const store = await open(t, url);
  const inside = lookInside(url);
  await inside.hset(`${new URL(url).searchParams.get('keyPrefix')}{gateway}:meta`, 'schema', 7);
  inside.disconnect();
  const sentence = /schema version 7 and this gateway knows versions up to 1; run the newer gateway/;
  await assert.rejects(open(t, url), sentence);
  await assert.rejects(async () => store.organizations.create(organization(), 'me'), sentence);
});

test('an opening that fails leaves no connection behind', async (t) => {
  const url = apartAt(redis.url);
  await open(t, url);
  const connections = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  const before = connections();
  await assert.rejects(open(t, url, 'another'));
  await until(() => connections() <= before);
});

test('one instance sees the writes of another at once', async (t) => {
  const url = apartAt(redis.url);
  const [one, other] = [await open(t, url), await open(t, url)];
  const { record } = issue();
  await one.organizations.create(organization(), 'me');
  await one.keys.create(record);
  assert.deepEqual((await other.keys.findByDigest(record.digest))?.key, record);
  await other.keys.revoke(record.id, 'you', 'leaked');
  assert.equal((await one.keys.findByDigest(record.digest))?.key.revokedBy, 'you');
  await other.organizations.suspend('org_acme', 'you');
  assert.equal((await one.keys.findByDigest(record.digest))?.organization.state, 'suspended');
  assert.equal((await one.audit.since(0, 10)).latest, 4);
});

test('the names of one platform are out of the way of another on the same server', async (t) => {
  const [one, other] = [await open(t), await open(t)];
  await one.organizations.create(organization(), 'me');
  assert.deepEqual(await other.organizations.list(), []);
});

test('everything lies on one slot of a cluster', async (t) => {
  const url = apartAt(redis.url);
  const store = await open(t, url);
  await store.organizations.create(organization(), 'me');
  await store.keys.create(issue().record);
  await store.instances.report({ id: 'a', host: 'b', pid: 1, startedAtMs: 1, position: 0, graceMs: 1000 });
  const inside = lookInside(url);
  const names = await inside.keys(`${new URL(url).searchParams.get('keyPrefix')}*`);
  inside.disconnect();
  assert.ok(names.length > 8);
  for (const name of names) assert.match(name, /^[^{]*\{gateway\}:/);
});

test('a forgotten script is loaded again', async (t) => {
  const url = apartAt(redis.url);
  const store = await open(t, url);
  await store.organizations.create(organization(), 'me');
  const inside = lookInside(url);
  await inside.script('FLUSH');
  inside.disconnect();
  assert.deepEqual(await store.organizations.get('org_acme'), organization());
  assert.equal(await store.organizations.create(organization({ id: 'org_b' }), 'me'), true);
});

test('a long audit log can be read to its end, of all and of one organization', async (t) => {
  const { organizations, audit } = await open(t);
  await organizations.create(organization(), 'me');
  for (let index = 0; index < 600; index += 1) await organizations.change('org_acme', { tier: `tier_${index}` }, 'me');
  const all = await audit.list({ limit: 1000 });
  assert.deepEqual(
    all.map(({ sequence }) => sequence),
    Array.from({ length: 601 }, (_, index) => 601 - index),
  );
  assert.deepEqual(await audit.list({ organization: 'org_acme', limit: 1000 }), all);
  assert.deepEqual(await audit.list({ organization: 'org_acme', limit: 550 }), all.slice(0, 550));
});

test('wiped and imported anew under running gateways: every key works as before, and every instance learns of it', async (t) => {
  const url = apartAt(redis.url);
  const [gateway, command] = [await open(t, url), await open(t, url)];
  const { record } = issue();
  await gateway.import([organization()], [record], 'me');
  // As many changes afterwards as before: the sequence number alone would show no difference.
  assert.equal((await gateway.audit.since(0, 10)).latest, 1);
  await wipe(url);
  await command.import([organization()], [record], 'me');
  assert.deepEqual((await gateway.keys.findByDigest(record.digest))?.key, record);
  assert.deepEqual(await gateway.audit.since(1, 10), { latest: 0, changes: [] });
  assert.deepEqual(
    (await gateway.audit.since(0, 10)).changes.map(({ kind }) => kind),
    ['records.imported'],
  );
  await gateway.keys.revoke(record.id, 'me', undefined);
  assert.equal((await command.audit.since(1, 10)).latest, 0);
  assert.equal((await command.audit.since(1, 10)).latest, 2);
});

test('a report of changes that Redis has lost in a failover confirms none of those that took their places', async (t) => {
  const url = apartAt(redis.url);
  const store = await open(t, url);
  const listed = async () => (await store.instances.list()).map(({ position }) => position);
  const position = 2;
  const report = (changedAtMs: number) =>
    store.instances.report({ id: 'a', host: 'b', pid: 1, startedAtMs: 1, position, changedAtMs, graceMs: 60_000 });
  await store.organizations.create(organization(), 'me');
  await report(START_MS);
  assert.deepEqual(await listed(), [0]);
  await store.keys.create(issue().record);
  await report(START_MS);
  assert.deepEqual(await listed(), [position]);
  await report(START_MS + 1);
  assert.deepEqual(await listed(), [0]);
});

test('wiped and then claimed with another pepper: running gateways say so instead of finding nothing', async (t) => {
  const url = apartAt(redis.url);
  const store = await open(t, url);
  await wipe(url);
  await open(t, url, 'another');
  await assert.rejects(async () => store.audit.since(0, 10), /another key_pepper/);
  await assert.rejects(async () => store.keys.findByDigest('a digest'), /another key_pepper/);
  await assert.rejects(async () => store.organizations.create(organization(), 'me'), /another key_pepper/);
});
