// The list of running gateways in the embedded key store.

import type { DatabaseSync } from 'node:sqlite';
import type { Instance, InstanceRecords } from '../key-store.ts';
import { inTransactionWithoutWaiting } from './tables.ts';

/** How late a report may be before its gateway counts as silent: several attempts may have met another writer. */
const SLACK_MS = 5000;

export function createSqliteInstances(database: DatabaseSync, now: () => number): InstanceRecords {
  const upsert = database.prepare('INSERT OR REPLACE INTO instances VALUES (?, ?, ?, ?, ?, ?, ?)');
  const deleteSilent = database.prepare('DELETE FROM instances WHERE reported_at + grace + ? < ?');
  const deleteOne = database.prepare('DELETE FROM instances WHERE id = ?');
  const selectHeard = database.prepare(`
    SELECT id, host, pid, started_at AS startedAtMs, position, grace AS graceMs, max(0, ? - reported_at) AS silentMs
    FROM instances WHERE reported_at + grace + ? >= ? ORDER BY id
  `);
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
      const heard = selectHeard.all(nowMs, SLACK_MS, nowMs) as unknown as (Instance & { silentMs: number })[];
      return heard.map((instance) => ({ ...instance }));
    },
  };
}
