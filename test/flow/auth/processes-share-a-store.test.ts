import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Directory } from '../../../gateway/auth/directory.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startRunningClock } from '../../support/stand-still.ts';
import { digestOf, openStore, organization, storeWithKey } from '../../unit/auth/samples.ts';
import { startStoreProcess } from './start-store-process.ts';

test('processes that open a new store at once and write at once lose nothing', async () => {
  const directory = temporaryDirectory();
  const writers = Array.from({ length: 4 }, () => startStoreProcess(directory, 'create', '50'));
  const exits = await Promise.all(writers.map((writer) => once(writer, 'exit')));
  assert.deepEqual(
    exits.map(([code]) => code),
    [0, 0, 0, 0],
  );
  const store = openStore(directory);
  assert.equal((await store.organizations.list()).length, 200);
  assert.equal((await store.keys.list()).length, 200);
  const { latest, changes } = await store.audit.since(0, 1000);
  assert.equal(changes.length, 400);
  assert.equal(latest, 400);
});

test('a process killed in mid-seeding leaves whole batches and a sound file', async () => {
  for (const delayMs of [0, 3, 7]) {
    const directory = temporaryDirectory();
    const seeder = startStoreProcess(directory, 'seed');
    await once(seeder.stdout, 'data');
    await setTimeout(delayMs);
    seeder.kill('SIGKILL');
    await once(seeder, 'exit');

    const store = openStore(directory);
    const { changes } = await store.audit.since(0, 10_000);
    const announced = changes.reduce((sum, { details }) => sum + Number(details.organizations), 0);
    assert.ok(announced >= 500);
    assert.equal((await store.organizations.list()).length, announced);
    const owners = (await store.keys.list()).map((key) => key.organization);
    assert.equal(new Set(owners).size, announced);
    assert.equal(await store.organizations.create(organization({ id: 'org_after' }), 'me'), true);
    const database = new DatabaseSync(join(directory, 'gateway.db'));
    assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
    database.close();
  }
});

test('another process writing does not hold up look-ups', async () => {
  const directory = temporaryDirectory();
  const store = openStore(directory);
  const seeder = startStoreProcess(directory, 'seed');
  await once(seeder.stdout, 'data');
  let slowestMs = 0;
  for (let index = 0; index < 200; index += 1) {
    const startedAt = performance.now();
    await store.keys.findByDigest(`digest ${index}`);
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    await setTimeout(1);
  }
  seeder.kill('SIGKILL');
  await once(seeder, 'exit');
  // Waiting for the writer would take seconds; two busy cores may take a while by themselves.
  assert.ok(slowestMs < 2000, `${slowestMs} ms`);
});

test('with the default settings a revocation reaches a running directory within 500 ms', async (t) => {
  const { store, key, record } = await storeWithKey(t);
  const self = { host: 'here', pid: process.pid };
  const directory = new Directory({ store, digestOf, ...self, now: Date.now, positiveMax: 10, negativeMax: 10 });
  t.after(() => directory.close());
  await setTimeout(20);
  assert.equal((await directory.callerOf(key))?.revoked, false);
  await store.keys.revoke(record.id, 'me', undefined);
  const clock = startRunningClock();
  while ((await directory.callerOf(key))?.revoked === false) await setTimeout(5);
  clock.stop();
  assert.ok(clock.ms() < 500, `${clock.ms()} ms`);
});
