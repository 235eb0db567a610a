// The embedded store of answers: one SQLite file in the data directory, which outlives the process.

import type { DatabaseSync } from 'node:sqlite';
import { openSqlite } from '../sqlite.ts';
import { prepareSchema } from './sqlite-schema.ts';
import type { AnswerStore, Begun, Slot, StoreStatus } from './store.ts';

/** Rows that are removed at once: about a millisecond with small answers, a few with the longest. */
const PURGE_ROWS = 50;
const PURGE_EVERY_MS = 1_000;
/** While there is more to remove than one slice. */
const PURGE_AGAIN_MS = 20;

/** Writes of another process on the same file take a fraction of a millisecond; requests stand still meanwhile. */
const BUSY_TIMEOUT_MS = 100;

const AT_SLOT = 'organization = ? AND mode = ? AND digest = ?';

export interface SqliteStoreOptions {
  /** The data directory; made if absent. */
  readonly directory: string;
  now(): number;
  onChange(status: StoreStatus): void;
}

/** Opens the store. Throws a sentence for people if the file is damaged or newer than this gateway. */
export function createSqliteStore({ directory, now, onChange }: SqliteStoreOptions): AnswerStore {
  const database = openSqlite({
    directory,
    file: 'idempotency.db',
    what: 'The store of answers',
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    prepare: prepareSchema,
  });
  const purge = createPurge(database, now);
  let state: StoreStatus['state'] = 'up';
  const status = (): StoreStatus => ({ kind: 'sqlite', state });

  // A row whose time is over counts as none, whether or not it has been removed yet.
  const insert = database.prepare(`
    INSERT INTO answers VALUES (?, ?, ?, ?, ?, NULL, ?) ON CONFLICT DO UPDATE
    SET fingerprint = excluded.fingerprint, owner = excluded.owner, record = NULL, expires_at = excluded.expires_at
    WHERE expires_at <= ?`);
  const select = database.prepare(`SELECT fingerprint, owner, record FROM answers WHERE ${AT_SLOT}`);
  const update = database.prepare(
    `UPDATE answers SET owner = NULL, record = ?, expires_at = ? WHERE ${AT_SLOT} AND owner = ? AND expires_at > ?`,
  );
  const remove = database.prepare(`DELETE FROM answers WHERE ${AT_SLOT} AND owner = ?`);

  function run<T>(work: () => T): T {
    let next: StoreStatus['state'] = 'away';
    try {
      const result = work();
      next = 'up';
      return result;
    } finally {
      if (next !== state) {
        state = next;
        onChange(status());
      }
    }
  }

  function begin({ organization, mode, digest }: Slot, fingerprint: string, owner: string, leaseMs: number): Begun {
    const nowMs = now();
    const { changes } = insert.run(organization, mode, digest, fingerprint, owner, nowMs + leaseMs, nowMs);
    if (changes === 1) return { state: 'started' };
    const row = select.get(organization, mode, digest);
    // Another process on the same file has removed it in between: it was running a moment ago.
    if (row === undefined) return { state: 'running' };
    if (row.fingerprint !== fingerprint) return { state: 'different' };
    if (row.owner !== null) return { state: 'running' };
    return { state: 'done', record: row.record === null ? undefined : Buffer.from(row.record as Uint8Array) };
  }

  return {
    begin: (slot, fingerprint, owner, leaseMs) => run(() => begin(slot, fingerprint, owner, leaseMs)),
    finish({ organization, mode, digest }, owner, record, retainMs) {
      const nowMs = now();
      run(() => update.run(record ?? null, nowMs + retainMs, organization, mode, digest, owner, nowMs));
    },
    forget({ organization, mode, digest }, owner) {
      run(() => remove.run(organization, mode, digest, owner));
    },
    status,
    close() {
      purge.stop();
      database.close();
    },
  };
}

/** Removes what is over, in slices: a day's rows at once would keep every request waiting. */
function createPurge(database: DatabaseSync, now: () => number): { stop(): void } {
  const removeSome = database.prepare(
    `DELETE FROM answers WHERE rowid IN (SELECT rowid FROM answers WHERE expires_at <= ? LIMIT ${PURGE_ROWS})`,
  );
  let next = setTimeout(purge, PURGE_EVERY_MS).unref();

  function purge(): void {
    let waitMs = PURGE_EVERY_MS;
    try {
      if (removeSome.run(now()).changes === PURGE_ROWS) waitMs = PURGE_AGAIN_MS;
    } catch {
      // Another process is writing: the same rows are there the next time.
    }
    next = setTimeout(purge, waitMs).unref();
  }

  return { stop: () => clearTimeout(next) };
}
