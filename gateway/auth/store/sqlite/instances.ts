// The list of running gateways in the embedded key store.

import type { DatabaseSync } from 'node:sqlite';
import type { InstanceRecords } from '../key-store.ts';
import { inTransactionWithoutWaiting } from './tables.ts';

/** How late a report may be before its gateway counts as silent: several attempts may have met another writer. */
const SLACK_MS = 5000;

interface InstanceRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly started_at: number;
  readonly position: number;
  readonly grace: number;
  readonly reported_at: number;
}

export function createSqliteInstances(database: DatabaseSync, now: () => number): InstanceRecords {
  const upsert = database.prepare('INSERT OR REPLACE INTO instances VALUES (?, ?, ?, ?, ?, ?, ?)');
  const deleteSilent = database.prepare('DELETE FROM instances WHERE reported_at + grace + ? < ?');
  const deleteOne = database.prepare('DELETE FROM instances WHERE id = ?');
  const selectHeard = database.prepare('SELECT * FROM instances WHERE reported_at + grace + ? >= ? ORDER BY id');
  return {
    report({ id, host, pid, startedAtMs, position, graceMs }) {
      inTransactionWithoutWaiting(database, () => {
        const nowMs = now();
        deleteSilent.run(SLACK_MS, nowMs);
        upsert.run(id, host, pid, startedAtMs, position, graceMs, nowMs);
      });
    },
    remove(id) {
      deleteOne.run(id);
    },
    list() {
      const nowMs = now();
      return selectHeard.all(SLACK_MS, nowMs).map((row) => instanceOf(row, nowMs));
    },
  };
}

function instanceOf(row: unknown, nowMs: number) {
  const { id, host, pid, started_at, position, grace, reported_at } = row as InstanceRow;
  const silentMs = Math.max(0, nowMs - reported_at);
  return { id, host, pid, startedAtMs: started_at, position, graceMs: grace, silentMs };
}
