import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { ReplayStore } from '../../../gateway/replay/replay-store.ts';
import { ENTRY_BYTES, FULL_RETAIN_MS } from '../../../gateway/replay/replay-store.ts';
import { createSqliteReplayStore } from '../../../gateway/replay/sqlite-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { claimOf } from './claim.ts';
import { LEASE_MS, newAnswerKey, RETENTION, replayStoreSuite } from './store-suite.ts';

const START_MS = Date.parse('2026-11-20T12:00:00Z');
const onChange = () => {};

function open(t: TestContext, directory: string, now = () => START_MS): ReplayStore {
  const store = createSqliteReplayStore({ directory, now, onChange });
  t.after(() => store.close());
  return store;
}

replayStoreSuite('SQLite', async (t) => {
  const directory = temporaryDirectory();
  let nowMs = START_MS;
  const now = () => nowMs;
  return {
    stores: [open(t, directory, now), open(t, directory, now)],
    async expire() {
      nowMs += 86_400_000;
    },
    async endLeases() {
      nowMs += LEASE_MS;
    },
  };
});

test('SQLite ends leases, unknown outcomes and answers to the millisecond', async (t) => {
  let nowMs = START_MS;
  const store = open(t, temporaryDirectory(), () => nowMs);
  const key = newAnswerKey();
  const begin = async () => (await store.begin(key, claimOf('f', 'me', 1000, { retainMs: 3000 }))).state;
  assert.equal(await begin(), 'started');
  nowMs += 999;
  assert.equal(await begin(), 'running');
  nowMs += 1;
  assert.equal(await begin(), 'unknown');
  nowMs += 2999;
  assert.equal(await begin(), 'unknown');
  nowMs += 1;
  assert.equal(await begin(), 'started');
  await store.finish(key, 'me', Buffer.from('x'), { ...RETENTION, retainMs: 5000 });
  nowMs += 4999;
  assert.equal(await begin(), 'done');
  nowMs += 1;
  assert.equal(await begin(), 'started');
});

test('the stored bytes of an organization count from its first answer until that expires, to the millisecond', async (t) => {
  let nowMs = START_MS;
  const store = open(t, temporaryDirectory(), () => nowMs);
  const key = newAnswerKey();
  const retention = { retainMs: FULL_RETAIN_MS + 1000, organizationBytesMax: 2 * ENTRY_BYTES + 2 };
  async function keep(digest: string) {
    await store.begin({ ...key, digest }, claimOf('f', 'me', 1000));
    await store.finish({ ...key, digest }, 'me', Buffer.from('x'), retention);
  }
  const ask = async (digest: string) => store.begin({ ...key, digest }, claimOf('f', 'you', 1000));
  await keep('first');
  nowMs += 1000;
  await keep('second');
  nowMs += retention.retainMs - 1001;
  await keep('over');
  assert.deepEqual(await ask('over'), { state: 'done', outcome: undefined });
  nowMs += 1;
  await keep('next');
  assert.deepEqual(await ask('next'), { state: 'done', outcome: Buffer.from('x') });
  assert.equal((await ask('second')).state, 'done', 'the second has a second left');
  nowMs += FULL_RETAIN_MS - 2;
  assert.equal((await ask('over')).state, 'done');
  nowMs += 1;
  assert.equal((await ask('over')).state, 'started', 'without its answer it is remembered for ten minutes');
});

test('an answer beyond the bound is remembered no longer than answers are kept', async (t) => {
  let nowMs = START_MS;
  const store = open(t, temporaryDirectory(), () => nowMs);
  const key = newAnswerKey();
  await store.begin(key, claimOf('f', 'me', 1000));
  await store.finish(key, 'me', Buffer.from('x'), { retainMs: 60_000, organizationBytesMax: ENTRY_BYTES });
  nowMs += 60_000;
  assert.equal((await store.begin(key, claimOf('f', 'me', 1000))).state, 'started');
});

test('answers exist after closing and opening', async (t) => {
  const directory = temporaryDirectory();
  const key = newAnswerKey();
  const first = createSqliteReplayStore({ directory, now: () => START_MS, onChange });
  await first.begin(key, claimOf('f', 'me', 1000));
  await first.finish(key, 'me', Buffer.from('x'), RETENTION);
  await first.close();
  assert.deepEqual(await open(t, directory).begin(key, claimOf('f', 'me', 1)), {
    state: 'done',
    outcome: Buffer.from('x'),
  });
});

test('expired records are removed beside the traffic, slice by slice, and no others are', async (t) => {
  const directory = temporaryDirectory();
  let nowMs = START_MS;
  const store = open(t, directory, () => nowMs);
  for (let i = 0; i < 130; i++) await store.begin(newAnswerKey(), claimOf('f', 'me', 1000, { retainMs: 0 }));
  nowMs += 1000;
  for (let i = 0; i < 3; i++) await store.begin(newAnswerKey(), claimOf('f', 'me', 1000));
  const reader = new DatabaseSync(join(directory, 'idempotency.db'), { readOnly: true });
  t.after(() => reader.close());
  const count = () => Number(reader.prepare('SELECT count(*) AS n FROM answers').get()?.n);
  const seen = new Set<number>();
  for (const endMs = Date.now() + 10_000; count() > 3 && Date.now() < endMs; ) {
    seen.add(count());
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.equal(count(), 3);
  assert.ok(
    [...seen].every((rows) => [133, 83, 33].includes(rows)),
    `in slices of 50: ${[...seen]}`,
  );
});

test('a full disk is away until there is room: forgetting and giving again say nothing about it', async (t) => {
  const directory = temporaryDirectory();
  const states: string[] = [];
  const store = createSqliteReplayStore({
    directory,
    now: () => START_MS,
    onChange: ({ state }) => states.push(state),
  });
  t.after(() => store.close());
  const known = newAnswerKey();
  await store.begin(known, claimOf('f', 'me', 1000));
  await store.finish(known, 'me', Buffer.from('x'), RETENTION);
  // The next write has no page to go to, as on a full disk.
  const trigger = new DatabaseSync(join(directory, 'idempotency.db'));
  t.after(() => trigger.close());
  trigger.exec(`CREATE TRIGGER full BEFORE INSERT ON answers WHEN NEW.digest <> '${known.digest}'
    BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`);
  for (let i = 0; i < 3; i++) {
    const key = newAnswerKey();
    assert.throws(() => store.begin(key, claimOf('f', 'me', 1000)), /full/);
    await store.forget(key, 'me');
    assert.equal((await store.begin(known, claimOf('f', 'you', 1000))).state, 'done');
  }
  trigger.exec('DROP TRIGGER full');
  await store.begin(newAnswerKey(), claimOf('f', 'me', 1000));
  assert.deepEqual(states, ['away', 'up']);
});

test('a file that another process is writing to is away for a moment, without standing still for it', async (t) => {
  const directory = temporaryDirectory();
  const states: string[] = [];
  const store = createSqliteReplayStore({
    directory,
    now: () => START_MS,
    onChange: ({ state }) => states.push(state),
  });
  t.after(() => store.close());
  const writer = new DatabaseSync(join(directory, 'idempotency.db'));
  t.after(() => writer.close());
  writer.exec('BEGIN IMMEDIATE');
  const startedAt = performance.now();
  assert.throws(() => store.begin(newAnswerKey(), claimOf('f', 'me', 1000)), /locked/);
  assert.ok(performance.now() - startedAt < 5000);
  writer.exec('ROLLBACK');
  assert.deepEqual(await store.begin(newAnswerKey(), claimOf('f', 'me', 1000)), { state: 'started' });
  assert.deepEqual(states, ['away', 'up']);
});

test('only the owner can read the file or its journal, even after a careless restore', async (t) => {
  const directory = temporaryDirectory();
  await createSqliteReplayStore({ directory, now: () => START_MS, onChange }).close();
  chmodSync(join(directory, 'idempotency.db'), 0o644);
  await open(t, directory).begin(newAnswerKey(), claimOf('f', 'me', 1000));
  for (const name of ['idempotency.db', 'idempotency.db-wal', 'idempotency.db-shm']) {
    assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name);
  }
});

test('a newer schema and a file that is no database are named, and stay as they are', async () => {
  const directory = temporaryDirectory();
  await createSqliteReplayStore({ directory, now: () => START_MS, onChange }).close();
  const path = join(directory, 'idempotency.db');
  const database = new DatabaseSync(path);
  database.exec('PRAGMA user_version = 7');
  database.close();
  const opening = () => createSqliteReplayStore({ directory, now: () => START_MS, onChange });
  assert.throws(opening, /idempotency\.db cannot be opened: it has schema version 7.*up to 3/);
  const text = 'this is a shopping list, not a database '.repeat(100);
  writeFileSync(path, text);
  assert.throws(opening, /idempotency\.db cannot be opened: .*not a database/);
  assert.equal(readFileSync(path, 'utf8'), text);
});
