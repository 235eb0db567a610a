import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { createSqliteKeyStore } from '../../../gateway/auth/store/sqlite/sqlite-key-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { fakeClock, issue, openStore, organization, pepperFingerprint, START_MS } from '../../unit/auth/samples.ts';
import { keyStoreSuite } from './key-store-suite.ts';

keyStoreSuite('SQLite', () => openStore());

const now = () => 0;
const instance = { id: 'a', host: 'one', pid: 4711, startedAtMs: START_MS, position: 3, graceMs: 1000 };

test('another pepper refuses to open, with the reason and the remedy', () => {
  const directory = temporaryDirectory();
  openStore(directory).close();
  assert.throws(
    () => createSqliteKeyStore({ directory, pepperFingerprint: 'another', now }),
    /gateway\.db cannot be opened: it was made with another key_pepper.*Restore the key_pepper/,
  );
});

test('a file that is no database is named', () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'gateway.db'), 'this is a shopping list, not a database '.repeat(100));
  assert.throws(
    () => createSqliteKeyStore({ directory, pepperFingerprint, now }),
    /gateway\.db cannot be opened: .*not a database/,
  );
});

test('only the owner can read the file or its journal, even after a careless restore', async () => {
  const directory = temporaryDirectory();
  openStore(directory).close();
  chmodSync(join(directory, 'gateway.db'), 0o644);
  const store = openStore(directory);
  await store.organizations.create(organization(), 'me');
  for (const name of ['gateway.db', 'gateway.db-wal', 'gateway.db-shm']) {
    assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name);
  }
});

test('the key itself is nowhere in the files', async () => {
  const directory = temporaryDirectory();
  const store = openStore(directory);
  await store.organizations.create(organization(), 'me');
  const { key, record } = issue();
  await store.keys.create(record);
  for (const name of ['gateway.db', 'gateway.db-wal']) {
    assert.ok(!readFileSync(join(directory, name)).includes(key.slice(13, -4)));
  }
});

test('one connection sees the writes of another at once', async () => {
  const directory = temporaryDirectory();
  const [gateway, command] = [openStore(directory), openStore(directory)];
  await command.organizations.create(organization(), 'me');
  const { record } = issue();
  await command.keys.create(record);
  assert.equal((await gateway.keys.findByDigest(record.digest))?.key.id, record.id);
});

test('noting uses and reporting do not wait while another process is writing', async () => {
  const directory = temporaryDirectory();
  const store = openStore(directory);
  const { record } = issue();
  await store.organizations.create(organization(), 'me');
  await store.keys.create(record);
  const writer = new DatabaseSync(join(directory, 'gateway.db'));
  writer.exec('BEGIN IMMEDIATE');
  const startedAt = performance.now();
  assert.throws(() => store.keys.noteUses(new Map([[record.id, 5]])), /locked/);
  assert.throws(() => store.instances.report(instance), /locked/);
  assert.ok(performance.now() - startedAt < 2000);
  writer.exec('ROLLBACK');
  writer.close();
  await store.keys.noteUses(new Map([[record.id, 5]]));
  await store.instances.report(instance);
  assert.equal((await store.keys.get(record.id))?.lastUsedAtMs, 5);
  assert.equal((await store.instances.list()).length, 1);
});

test('a gateway is listed for its grace and five seconds after its last report, then forgotten', async () => {
  const directory = temporaryDirectory();
  const clock = fakeClock();
  const store = openStore(directory, clock.now);
  await store.instances.report(instance);
  clock.advance(instance.graceMs + 5000);
  assert.deepEqual(await store.instances.list(), [{ ...instance, silentMs: instance.graceMs + 5000 }]);
  clock.advance(1);
  assert.deepEqual(await store.instances.list(), []);
  await store.instances.report({ ...instance, id: 'b' });
  const database = new DatabaseSync(join(directory, 'gateway.db'));
  assert.deepEqual({ ...database.prepare('SELECT count(*) AS rows FROM instances').get() }, { rows: 1 });
  database.close();
});

test('a clock that was set back puts no call into the future', async () => {
  const clock = fakeClock();
  const store = openStore(temporaryDirectory(), clock.now);
  await store.instances.report(instance);
  clock.advance(-60_000);
  assert.equal((await store.instances.list())[0]?.silentMs, 0);
});

test('all records exist after closing and opening', async () => {
  const directory = temporaryDirectory();
  const { record } = issue();
  const first = openStore(directory);
  await first.organizations.create(organization(), 'me');
  await first.keys.create(record);
  first.close();
  assert.deepEqual((await openStore(directory).keys.findByDigest(record.digest))?.key, record);
});
