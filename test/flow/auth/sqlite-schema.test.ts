// A data directory outlives the gateway that made it: files of every earlier version open, and those of later ones are left alone.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { createSqliteKeyStore } from '../../../gateway/auth/store/sqlite/sqlite-key-store.ts';
import type { StoredKey } from '../../../gateway/auth/store/stored-key.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { issue, openStore, organization, pepperFingerprint, START_MS } from '../../unit/auth/samples.ts';
import { startStoreProcess } from './start-store-process.ts';

const now = () => START_MS;

/** The exact schema of version 1. */
const VERSION_1 = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE organizations (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, tier TEXT NOT NULL, state TEXT NOT NULL, contacts TEXT NOT NULL,
    operator INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE keys (
    id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, organization TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL, allowed_cidrs TEXT NOT NULL, prefix TEXT NOT NULL,
    last_four TEXT NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL, expires_at INTEGER,
    revoked_at INTEGER, revoked_by TEXT, revoked_reason TEXT, last_used_at INTEGER
  ) STRICT;
  CREATE INDEX keys_by_organization ON keys (organization);
  CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, by TEXT NOT NULL, kind TEXT NOT NULL,
    organization TEXT, key TEXT, details TEXT NOT NULL
  ) STRICT;
  CREATE INDEX changes_by_organization ON changes (organization) WHERE organization IS NOT NULL;
  PRAGMA user_version = 1;
`;

function openFile(directory: string): DatabaseSync {
  return new DatabaseSync(join(directory, 'gateway.db'));
}

function makeVersion1(fingerprint = pepperFingerprint) {
  const directory = temporaryDirectory();
  const database = openFile(directory);
  database.exec(`PRAGMA journal_mode = WAL; ${VERSION_1}`);
  database.prepare("INSERT INTO meta VALUES ('pepper_fingerprint', ?)").run(fingerprint);
  database.exec(`
    INSERT INTO organizations VALUES ('org_acme', 'Acme', 'premium', 'suspended', '["ops@example.com"]', 1);
    INSERT INTO changes (at, by, kind, organization, key, details)
      VALUES (5, 'me', 'organization.created', 'org_acme', NULL, '{"name":"Acme"}');
  `);
  const plain = issue({ scopes: ['jobs:read'] }).record;
  const revoked = { ...issue().record, revokedAtMs: 7, revokedBy: 'me', revokedReason: 'leaked', lastUsedAtMs: 6 };
  for (const key of [plain, revoked]) insertVersion1(database, key);
  database.close();
  return { directory, keys: [plain, revoked] };
}

function insertVersion1(database: DatabaseSync, key: StoredKey): void {
  const { id, digest, organization: owner, mode, name, scopes, allowedCidrs, prefix, lastFour } = key;
  const { createdAtMs, createdBy, expiresAtMs, revokedAtMs, revokedBy, revokedReason, lastUsedAtMs } = key;
  const times = [expiresAtMs, revokedAtMs, revokedBy, revokedReason, lastUsedAtMs].map((value) => value ?? null);
  const lists = [JSON.stringify(scopes), JSON.stringify(allowedCidrs)];
  database
    .prepare('INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    .run(id, digest, owner, mode, name, ...lists, prefix, lastFour, createdAtMs, createdBy, ...times);
}

function versionOf(directory: string): unknown {
  const database = openFile(directory);
  const row = database.prepare('PRAGMA user_version').get();
  database.close();
  return row?.user_version;
}

test('a file of version 1 opens with its records and supports the new features', async () => {
  const { directory, keys } = makeVersion1();
  const store = openStore(directory);
  const acme = organization({ tier: 'premium', state: 'suspended', contacts: ['ops@example.com'], operator: true });
  assert.deepEqual(await store.organizations.list(), [acme]);
  assert.deepEqual(await store.keys.list(), keys);
  assert.deepEqual((await store.audit.since(0, 10)).changes, [
    {
      sequence: 1,
      atMs: 5,
      by: 'me',
      kind: 'organization.created',
      organization: 'org_acme',
      key: undefined,
      details: { name: 'Acme' },
    },
  ]);
  const successor = issue().record;
  const rotated = await store.keys.rotate(keys[0]?.id ?? '', successor, START_MS + 1);
  assert.equal(rotated?.replacedBy, successor.id);
  await store.instances.report({ id: 'a', host: 'one', pid: 1, startedAtMs: 1, position: 2, graceMs: 3 });
  assert.equal((await store.instances.list()).length, 1);
  assert.equal(versionOf(directory), 2);
});

test('a new file has the same tables as one that was upgraded', () => {
  const { directory: upgraded } = makeVersion1();
  const made = temporaryDirectory();
  const [first, second] = [upgraded, made].map((directory) => {
    openStore(directory).close();
    const database = openFile(directory);
    const tables = database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
    database.close();
    return tables.map(({ type, name, sql }) => [type, name, String(sql).replace(/\s+/g, ' ')]);
  });
  assert.deepEqual(first, second);
});

test('processes that open a file of version 1 at once upgrade it once and lose nothing', async () => {
  const { directory, keys } = makeVersion1();
  const writers = Array.from({ length: 4 }, () => startStoreProcess(directory, 'create', '10'));
  const exits = await Promise.all(writers.map((writer) => once(writer, 'exit')));
  assert.deepEqual(
    exits.map(([code]) => code),
    [0, 0, 0, 0],
  );
  const store = openStore(directory);
  assert.equal((await store.keys.list()).length, 40 + keys.length);
  assert.deepEqual(await store.keys.get(keys[1]?.id ?? ''), keys[1]);
});

test('an upgrade that fails leaves the file unchanged', () => {
  const { directory } = makeVersion1();
  const database = openFile(directory);
  database.exec('CREATE TABLE instances (something TEXT)');
  assert.throws(
    () => createSqliteKeyStore({ directory, pepperFingerprint, acceptOneWay: true, now }),
    /gateway\.db cannot be opened: table instances already exists/,
  );
  assert.equal(versionOf(directory), 1);
  const columns = database.prepare("SELECT name FROM pragma_table_info('keys')").all();
  assert.ok(!columns.some(({ name }) => name === 'replaced_by'));
  database.close();
});

test('a file of version 1 is unchanged until its upgrade is accepted, even by commands', () => {
  const { directory } = makeVersion1();
  assert.throws(
    () => createSqliteKeyStore({ directory, pepperFingerprint, now }),
    /gateway\.db cannot be opened: it has schema version 1, .* start the gateway once with --accept-one-way\./,
  );
  assert.equal(versionOf(directory), 1);
});

test('a file of version 1 that was made with another pepper stays untouched', () => {
  const { directory } = makeVersion1('another');
  assert.throws(
    () => createSqliteKeyStore({ directory, pepperFingerprint, acceptOneWay: true, now }),
    /another key_pepper/,
  );
  assert.equal(versionOf(directory), 1);
});

test('a file of a newer version refuses to open and stays untouched', () => {
  const directory = temporaryDirectory();
  openStore(directory).close();
  const database = openFile(directory);
  database.exec('PRAGMA user_version = 7');
  database.close();
  assert.throws(
    () => createSqliteKeyStore({ directory, pepperFingerprint, acceptOneWay: true, now }),
    /schema version 7 and this gateway knows versions up to 2; run the newer gateway/,
  );
  assert.equal(versionOf(directory), 7);
});
