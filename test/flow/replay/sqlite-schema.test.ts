// The file of answers outlives the gateway that made it: an earlier version opens, with everything in it.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { REPLAY_STEPS } from '../../../gateway/replay/sqlite-schema.ts';
import { createSqliteReplayStore } from '../../../gateway/replay/sqlite-store.ts';
import { applySteps } from '../../../gateway/shared/stores/sqlite-schema.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { claimOf } from './claim.ts';
import { newAnswerKey, RETENTION } from './store-suite.ts';

const START_MS = Date.parse('2026-11-20T12:00:00Z');

/** The exact schema of version 1. */
const VERSION_1 = `
  CREATE TABLE IF NOT EXISTS answers (
    organization TEXT NOT NULL, mode TEXT NOT NULL, digest TEXT NOT NULL, fingerprint TEXT NOT NULL, owner TEXT, record BLOB,
    expires_at INTEGER NOT NULL, UNIQUE (organization, mode, digest)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS answers_by_end ON answers (expires_at);
  PRAGMA user_version = 1;
`;

const columnsOf = (database: DatabaseSync) =>
  database.prepare('SELECT m.name, c.* FROM sqlite_master m, pragma_table_info(m.name) c ORDER BY 1, 2').all();
const versionOf = (database: DatabaseSync) => database.prepare('PRAGMA user_version').get()?.user_version;

function openNew(t: TestContext, path = ':memory:'): DatabaseSync {
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  return database;
}

test('a file of version 1 keeps its answers, and counts from the upgrade on', async (t) => {
  const directory = temporaryDirectory();
  const database = openNew(t, join(directory, 'idempotency.db'));
  database.exec(VERSION_1);
  let nowMs = START_MS;
  const { organization, mode, digest } = newAnswerKey();
  const insert = database.prepare('INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)');
  insert.run(organization, mode, digest, 'f', null, Buffer.from('kept'), START_MS + 1000);
  insert.run(organization, mode, 'running', 'f', 'me', null, START_MS + 1000);
  const store = createSqliteReplayStore({ directory, acceptOneWay: true, now: () => nowMs, onChange() {} });
  t.after(() => store.close());
  assert.equal(versionOf(database), 3);
  const again = await store.begin({ organization, mode, digest }, claimOf('f', 'you', 1000));
  assert.deepEqual(again, { state: 'done', outcome: Buffer.from('kept') });
  const running = { organization, mode, digest: 'running' } as const;
  nowMs = START_MS + 1000;
  assert.deepEqual(
    await store.begin(running, claimOf('f', 'you', 1000)),
    { state: 'unknown', owner: 'me', sentAtMs: undefined, upstream: undefined },
    'a running write may have been executed',
  );
  nowMs = START_MS;
  await store.finish(running, 'me', Buffer.alloc(44), RETENTION);
  assert.deepEqual(
    { ...database.prepare('SELECT * FROM usage').get() },
    { organization, bytes: 300, ends_at: START_MS + RETENTION.retainMs },
  );
});

test('a new file equals an upgraded file, and a file of the present version is unchanged', (t) => {
  const [grown, fresh] = [openNew(t), openNew(t)];
  grown.exec(VERSION_1);
  for (const database of [grown, fresh, fresh]) applySteps(database, REPLAY_STEPS, { acceptOneWay: true });
  assert.deepEqual(columnsOf(grown), columnsOf(fresh));
  assert.deepEqual([versionOf(grown), versionOf(fresh)], [3, 3]);
});

test('a step that fails leaves the file unchanged', (t) => {
  const database = openNew(t);
  database.exec(`${VERSION_1} CREATE TABLE usage (something TEXT);`);
  const before = columnsOf(database);
  assert.throws(() => applySteps(database, REPLAY_STEPS, { acceptOneWay: true }), /usage already exists/);
  assert.deepEqual([columnsOf(database), versionOf(database)], [before, 1]);
});
