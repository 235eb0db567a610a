// With a Redis, instances that have no directory in common agree on the secrets that they make themselves.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Ed25519Jwk, newAssertionKey } from '../../../gateway/config/secrets/assertion-keys.ts';
import { createSecretsInRedis } from '../../../gateway/config/secrets/secrets-redis.ts';
import { loadSecrets, type Secrets } from '../../../gateway/config/secrets.ts';
import { connectRedis, type Redis } from '../../../gateway/redis/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway } from '../../support/gateway.ts';
import { apartAt, startRedis, type TestRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';

const all = ({ keyPepper, cursorSecret, assertionKeys }: Secrets) =>
  Promise.all([keyPepper(), cursorSecret(), assertionKeys()]);

describe('secrets in Redis', () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  let url: string;
  beforeEach(() => {
    url = apartAt(redis.url);
  });

  let directory: string;
  before(() => {
    directory = temporaryDirectory();
  });

  /** An instance, with a data directory of its own unless one is given. */
  const open = (environment = {}, dataDirectory = join(directory, randomUUID())) =>
    loadSecrets({ environment, dataDirectory, redisUrl: url });

  async function ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    const ready = Promise.withResolvers<void>();
    const client = connectRedis({ url, onReady: ready.resolve, onLost: ready.reject });
    await ready.promise;
    return question(client).finally(() => client.disconnect());
  }

  it('are the same for instances that start at once, and for one that comes later', async () => {
    const made = await Promise.all([open(), open(), open()].map(all));
    assert.deepEqual(made[1], made[0]);
    assert.deepEqual(made[2], made[0]);
    assert.deepEqual(await all(open()), made[0]);
  });

  it('lie in the documented place, and are named without their values', async () => {
    const secrets = open();
    assert.deepEqual(secrets.foundInRedis(), []);
    const [pepper] = await all(secrets);
    assert.equal(await ask((client) => client.hget('{gateway}:secrets', 'key_pepper')), pepper);
    assert.deepEqual(secrets.foundInRedis(), ['assertion_keys', 'cursor_secret', 'key_pepper']);
  });

  it('are neither made nor read from Redis where the secrets store has them', async () => {
    const secrets = open({ KEY_PEPPER: 'a pepper from the secrets store' });
    assert.equal(await secrets.keyPepper(), 'a pepper from the secrets store');
    assert.deepEqual(secrets.foundInRedis(), []);
    assert.equal(await ask((client) => client.exists('{gateway}:secrets')), 0);
  });

  it('lose no change when several instances change the keys at once', async () => {
    const added = Array.from({ length: 5 }, newAssertionKey);
    await open().assertionKeys();
    await Promise.all(added.map((key) => open().changeAssertionKeys((present) => [...present, key])));
    const xs = (await open().assertionKeys()).map(({ x }) => x);
    assert.equal(xs.length, 6);
    for (const { x } of added) assert.ok(xs.includes(x));
  });

  it('that were replaced count as replaced for a client that missed the answer and repeats the request', async () => {
    const made = createSecretsInRedis({ url, patienceMs: 0 });
    await made.make('assertion_keys', 'one');
    assert.equal(await made.replace('assertion_keys', 'one', 'two'), true);
    assert.equal(await made.replace('assertion_keys', 'one', 'two'), true);
    assert.equal(await made.replace('assertion_keys', 'one', 'three'), false);
    assert.equal(await made.read('assertion_keys'), 'two');
  });

  it('that got lost are restored by an instance that still has the assertion keys', async () => {
    const running = open();
    const keys = await running.assertionKeys();
    await ask((client) => client.del('{gateway}:secrets'));
    assert.equal(await running.assertionKeys(), keys);
    assert.deepEqual(await open().assertionKeys(), keys);
  });

  it('that got lost are all put back, the pepper too, as soon as one is missed', async () => {
    const running = open();
    const made = await all(running);
    await ask((client) => client.del('{gateway}:secrets'));
    await running.assertionKeys();
    assert.deepEqual(await all(open()), made);
  });

  it('that got lost are put back by a gateway that has its assertion keys from the secrets store', async () => {
    const options = thingsAt('http://127.0.0.1:1');
    const assertionKeys = JSON.stringify({ keys: [newAssertionKey()] });
    const environment = { REDIS_URL: url, ASSERTION_KEYS: assertionKeys };
    const gateway = await startGateway({ ...options, environment });
    await ask((client) => client.del('{gateway}:secrets'));
    const stranger = await open({ ASSERTION_KEYS: assertionKeys }).keyPepper();
    await gateway.stop();
    assert.equal(await open().keyPepper(), stranger);
  });

  it('that no instance has any more come back from the data directory of the first instance that starts', async () => {
    const dataDirectory = join(directory, 'kept');
    const made = await all(open({}, dataDirectory));
    await ask((client) => client.del('{gateway}:secrets'));
    assert.deepEqual(await all(open({}, dataDirectory)), made);
    assert.deepEqual(await all(open()), made);
    const copy = join(dataDirectory, 'secrets', 'shared', 'key_pepper');
    assert.equal(readFileSync(copy, 'utf8'), `${made[0]}\n`);
    assert.equal(statSync(copy).mode & 0o777, 0o600);
  });

  it('are taken from a data directory that was used without Redis before, and do not change it', async () => {
    const [one, other] = [join(directory, 'one'), join(directory, 'other')];
    const embedded = (dataDirectory: string) => all(loadSecrets({ environment: {}, dataDirectory }));
    const [ofOne, ofOther] = [await embedded(one), await embedded(other)];
    assert.deepEqual(await all(open({}, one)), ofOne);
    assert.deepEqual(await all(open({}, other)), ofOne, 'the first one decides');
    assert.deepEqual(await embedded(other), ofOther);
  });

  it('of an existing key store are never generated: a start waits for a lost pepper, and then fails', async () => {
    const running = open();
    const pepper = await running.keyPepper();
    await ask((client) => client.hset('{gateway}:meta', 'schema', '1'));
    await ask((client) => client.del('{gateway}:secrets'));
    const stranger = open().keyPepper();
    await running.assertionKeys();
    assert.equal(await stranger, pepper);
    await ask((client) => client.del('{gateway}:secrets'));
    const made = createSecretsInRedis({ url, patienceMs: 200 });
    await assert.rejects(async () => made.make('key_pepper', 'another pepper'), /is not in Redis any more/);
    assert.equal(await ask((client) => client.exists('{gateway}:secrets')), 0);
  });

  it('are named in the log of a gateway that starts on them, without their values', async () => {
    const gateway = await startGateway({ ...thingsAt('http://127.0.0.1:1'), environment: { REDIS_URL: url } });
    const lines = gateway.logLines();
    await gateway.stop();
    const warning = lines.find(({ entries }) => entries !== undefined);
    assert.deepEqual([warning?.level, warning?.entries], [40, ['assertion_keys', 'key_pepper']]);
    const values = Object.values(await ask((client) => client.hgetall('{gateway}:secrets')));
    assert.equal(values.length, 2);
    for (const value of values) assert.ok(!JSON.stringify(lines).includes(value));
  });

  it('that a key store was not made with stop the start with the reason', async () => {
    const options = { ...thingsAt('http://127.0.0.1:1'), environment: { REDIS_URL: url } };
    await (await startGateway(options)).stop();
    const other = { ...options.environment, KEY_PEPPER: 'a mistyped pepper' };
    await assert.rejects(
      startGateway({ ...options, environment: other }),
      ({ message }: Error) => /key_pepper/.test(message) && !message.includes('mistyped'),
    );
  });

  it('are the same array until they change', async () => {
    const secrets = open();
    const first = await secrets.assertionKeys();
    assert.equal(await secrets.assertionKeys(), first);
    const next: readonly Ed25519Jwk[] = [newAssertionKey()];
    await open().changeAssertionKeys(() => next);
    assert.deepEqual(await secrets.assertionKeys(), next);
  });
});

describe('a Redis that is away', () => {
  it('is waited for at the start, and a sentence when it does not come', async () => {
    const redis = await startRedis();
    await redis.kill();
    const patient = createSecretsInRedis({ url: redis.url, patienceMs: 5000 });
    const making = patient.make('key_pepper', 'the secret of my life');
    await redis.restart();
    assert.equal(await making, 'the secret of my life');
    await redis.kill();
    for (const made of [patient, createSecretsInRedis({ url: redis.url, patienceMs: 200 })]) {
      const startedAt = performance.now();
      await assert.rejects(
        async () => made.make('key_pepper', 'the secret of my life'),
        ({ message }: Error) =>
          /^The secrets in Redis cannot be reached \(.+\): see REDIS_URL\.$/.test(message) &&
          !message.includes('of my life'),
      );
      assert.ok(performance.now() - startedAt < 4000, 'an instance that has had one answer waits no longer');
    }
    await redis.stop();
  });

  it('that takes connections and does not answer is a sentence too', async () => {
    const redis = await startRedis();
    redis.pause();
    const made = createSecretsInRedis({ url: redis.url, patienceMs: 0 });
    await assert.rejects(async () => made.read('key_pepper'), /^Error: The secrets in Redis cannot be reached/);
    redis.resume();
    await redis.stop();
  });
});
