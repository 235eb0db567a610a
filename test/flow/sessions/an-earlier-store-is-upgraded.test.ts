// A store of the first version says who held the lease of a refresh, and not whether the token was sent. After the upgrade it counts as
// sent.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { SESSIONS_FILE } from '../../../gateway/sessions/store/sqlite/session-schema.ts';
import { createSqliteSessionStore } from '../../../gateway/sessions/store/sqlite/sqlite-session-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { ring, signIn } from './store-samples.ts';

const TERMS = { forMs: 5000, notAfterMs: Number.MAX_SAFE_INTEGER, reuseMs: 0 };

/** Takes back the second step, as the first version would have written the file. */
function toFirstVersion(directory: string, held: string): void {
  const database = new DatabaseSync(join(directory, SESSIONS_FILE));
  database.exec(
    'ALTER TABLE sessions DROP COLUMN sent_at; ALTER TABLE sessions DROP COLUMN sender; PRAGMA user_version = 1',
  );
  database.prepare('UPDATE sessions SET owner = ?, lease_ends_at = 1 WHERE hash = ?').run('an earlier gateway', held);
  database.close();
}

describe('a session store of the first version', () => {
  it('is upgraded, and a token that its gateway may have sent is not sent again', async () => {
    const directory = temporaryDirectory();
    const open = (acceptOneWay: boolean) =>
      createSqliteSessionStore({ directory, keys: ring, now: Date.now, acceptOneWay });
    const before = open(false);
    const held = await signIn(before);
    const free = await signIn(before);
    await before.close();
    toFirstVersion(directory, held.hash);

    assert.throws(() => open(false), /--accept-one-way/);
    const after = open(true);
    assert.equal((await after.refreshes.take(held, 'this gateway', TERMS)).state, 'unknown');
    assert.equal((await after.refreshes.take(free, 'this gateway', TERMS)).state, 'taken');
    await after.close();
  });
});
