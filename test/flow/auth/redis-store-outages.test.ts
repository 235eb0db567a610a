import assert from 'node:assert/strict';
import { after, afterEach, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { apartAt, lookInside, startRedis, startRelay, startServer, type TestRedis } from '../../support/redis.ts';
import { issue, organization, pepperFingerprint, START_MS, until } from '../../unit/auth/samples.ts';

const redis = await startRedis();

afterEach(() => redis.resume());
after(() => redis.stop());

async function open(t: TestContext, url = apartAt(redis.url)) {
  const store = await openRedisStore({ url, pepperFingerprint, now: () => START_MS });
  t.after(() => store.close());
  return store;
}

/** The question of a gateway while it serves. */
function askedBesideTraffic(store: KeyStore) {
  const instance = { id: 'a', host: 'b', pid: 1, startedAtMs: START_MS, position: 0, graceMs: 1000 };
  return [
    async () => store.keys.findByDigest('a digest'),
    async () => store.organizations.get('org_acme'),
    async () => store.audit.since(0, 10),
    async () => store.instances.report(instance),
    async () => store.keys.noteUses(new Map([['key_nobody', 1]])),
  ];
}

const works = (ask: () => unknown) => async () => (await Promise.allSettled([ask()]))[0].status === 'fulfilled';

test('frozen: no serving gateway waits longer than the deadline, and it recovers by itself', async (t) => {
  const store = await open(t);
  await store.organizations.create(organization(), 'me');
  redis.pause();
  const startedAt = performance.now();
  await Promise.all(
    askedBesideTraffic(store).map((ask) => assert.rejects(ask, /^Error: Redis did not answer within 500 ms\.$/)),
  );
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < 2000, `${tookMs} ms`);
  redis.resume();
  await until(works(() => store.audit.since(0, 1)));
  assert.deepEqual(await store.organizations.get('org_acme'), organization());
});

test('a report names the server process that has taken it', async (t) => {
  const store = await open(t);
  const instance = { id: 'a', host: 'b', pid: 1, startedAtMs: START_MS, position: 0, graceMs: 1000 };
  const first = await store.instances.report(instance);
  assert.match(first, /^[0-9a-f]{40} [0-9a-f]{40}$/);
  assert.equal(await store.instances.report(instance), first);
  await redis.kill();
  await redis.restart();
  await until(works(() => store.instances.report(instance)));
  assert.notEqual(await store.instances.report(instance), first);
});

test('a user that must not read INFO reports all the same', async (t) => {
  const url = apartAt(redis.url);
  const inside = lookInside(url);
  await inside.call('acl', 'setuser', 'plain', 'on', '>word', '~*', '&*', '+@all', '-info');
  inside.disconnect();
  const asPlain = Object.assign(new URL(url), { username: 'plain', password: 'word' }).href;
  const store = await open(t, asPlain);
  const instance = { id: 'a', host: 'b', pid: 1, startedAtMs: START_MS, position: 0, graceMs: 1000 };
  assert.equal(await store.instances.report(instance), '');
  assert.equal((await store.instances.list()).length, 1);
});

test('gone: every caller gets an error at once, and it recovers by itself', async (t) => {
  const store = await open(t);
  await redis.kill();
  const administrative = [
    async () => store.organizations.create(organization(), 'me'),
    async () => store.keys.list(),
    async () => store.import([organization()], [], 'me'),
  ];
  const startedAt = performance.now();
  for (const ask of [...askedBesideTraffic(store), ...administrative]) {
    await assert.rejects(ask, /Redis cannot be reached: /);
  }
  // Each would take half a second by its deadline.
  assert.ok(performance.now() - startedAt < 2000);
  await redis.restart();
  await until(works(() => store.audit.since(0, 1)));
  await until(works(() => store.keys.list()));
});

test('an error of Redis does not carry the command', async (t) => {
  const url = apartAt(redis.url);
  const store = await open(t, url);
  const inside = lookInside(url);
  await inside.set(`${new URL(url).searchParams.get('keyPrefix')}{gateway}:digests`, 'not a hash');
  inside.disconnect();
  await assert.rejects(
    async () => store.keys.findByDigest('the digest of a key'),
    (thrown: Error) => {
      assert.match(thrown.message, /^Redis refused: WRONGTYPE/);
      assert.doesNotMatch(JSON.stringify({ ...thrown, message: thrown.message }), /the digest of a key/);
      return thrown.cause === undefined;
    },
  );
});

test('a change is announced to other instances, and again after their connection was cut', async (t) => {
  const relay = await startRelay(apartAt(redis.url));
  t.after(() => relay.stop());
  const url = Object.assign(new URL(relay.url), { port: String(new URL(redis.url).port) }).href;
  const [writer, listener] = [await open(t, url), await open(t, relay.url)];
  let heard = 0;
  listener.audit.subscribe(() => {
    heard += 1;
  });
  await until(() => heard === 1);
  await writer.organizations.create(organization(), 'me');
  await until(() => heard === 2);
  await relay.kill();
  await writer.organizations.suspend('org_acme', 'me');
  await relay.restart();
  // Writes made meanwhile are not announced; the start of listening is.
  await until(() => heard === 3);
  await writer.organizations.resume('org_acme', 'me');
  await until(() => heard === 4);
});

test('every change is announced, and nothing else is', async (t) => {
  const store = await open(t);
  let heard = 0;
  store.audit.subscribe(() => {
    heard += 1;
  });
  await until(() => heard === 1);
  const [{ record }, { record: successor }] = [issue(), issue()];
  await store.import([organization()], [record], 'me');
  await store.import([organization()], [record], 'me');
  await store.keys.rotate(record.id, successor, START_MS + 1000);
  await store.keys.noteUses(new Map([[record.id, START_MS]]));
  await store.keys.revoke(record.id, 'me', undefined);
  await store.keys.revoke(record.id, 'me', undefined);
  await store.audit.append('configuration.changed', 'me', {});
  await until(() => heard >= 5);
  await setTimeout(50);
  assert.equal(heard, 5);
});

test('a Redis that starts late is waited for', async (t) => {
  await redis.kill();
  const opening = open(t);
  await setTimeout(200);
  await redis.restart();
  assert.deepEqual(await (await opening).organizations.list(), []);
});

test('a Redis that is loading its data is waited for', { skip: process.env.REDIS_URL !== undefined }, async (t) => {
  const directory = temporaryDirectory();
  // So many microseconds for each of the names.
  const slow = ['--key-load-delay', '20000', '--loading-process-events-interval-bytes', '1024'];
  const server = await startServer('--dir', directory, ...slow);
  t.after(() => server.stop());
  const inside = lookInside(server.url);
  for (let index = 0; index < 50; index += 1) await inside.set(`name ${index}`, 'x'.repeat(100));
  await inside.save();
  inside.disconnect();
  await server.kill();
  const restarting = server.restart();
  const opening = open(t, server.url);
  const first = await Promise.race([restarting.then(() => 'loaded'), opening.then(() => 'opened')]);
  assert.equal(first, 'loaded');
  assert.deepEqual(await (await opening).organizations.list(), []);
});

test('a Redis that is not there, does not answer or requires a password is named, without the given password', async (t) => {
  const absent = await startRelay(redis.url);
  await absent.stop();
  const silent = await startRelay(redis.url);
  silent.pause();
  t.after(() => silent.stop());
  const withPassword = ({ url }: TestRedis) =>
    Object.assign(new URL(url), { username: 'someone', password: 'hidden-word' }).href;
  const sentenceOf = (url: string) =>
    open(t, url).then(
      () => assert.fail('it opened'),
      ({ message }: Error) => message,
    );
  const sentences = await Promise.all([absent, silent, redis].map((each) => sentenceOf(withPassword(each))));
  const expected = [/ECONNREFUSED/, /Redis cannot be reached: /, /WRONGPASS/];
  for (const [index, sentence] of sentences.entries()) {
    assert.match(sentence, /^The key store redis:\/\/127\.0\.0\.1:\d+\S* cannot be opened: Redis cannot be reached: /);
    assert.match(sentence, expected[index] as RegExp);
    assert.doesNotMatch(sentence, /someone|hidden-word/);
  }
});
