// Records in the database, one at a time. Everything here is within one scope: an organization in one mode.
import { type Referrer, referrersOf } from './catalogue.ts';
import type { Database } from './database.ts';
import type { SandboxResource, StoredRecord } from './resource.ts';
import { memberOf } from './schema.ts';

/** Organization and mode as one text. The mode comes first because it cannot contain the separator. */
export type Scope = string;

export interface RecordStore {
  /** The record as it is stored, without its derived members. */
  find(scope: Scope, resource: SandboxResource, id: string): StoredRecord | undefined;
  /** The record as JSON text, as clients see it. */
  show(scope: Scope, resource: SandboxResource, id: string): string | undefined;
  exists(scope: Scope, resource: SandboxResource, id: string): boolean;
  isEmpty(scope: Scope, resource: SandboxResource): boolean;
  insert(scope: Scope, resource: SandboxResource, record: StoredRecord): void;
  replace(scope: Scope, resource: SandboxResource, record: StoredRecord): void;
  remove(scope: Scope, resource: SandboxResource, id: string): void;
  /** Whether another record refers to this one. */
  isReferredTo(scope: Scope, resource: SandboxResource, id: string): boolean;
  /** When a record of this list was last changed. */
  lastChange(scope: Scope, resource: SandboxResource): string | undefined;
  nextNumber(scope: Scope, sequence: string): number;
  /** Makes the changes of status that are due by now. */
  moveOn(scope: Scope, resource: SandboxResource, nowMs: number): void;
}

/** SQL for a record `r` as clients see it. */
export function shownOf(resource: SandboxResource): string {
  const derived = Object.entries(resource.derived).map(([member, sql]) => `'$.${member}', (${sql})`);
  return derived.length === 0 ? 'r.record' : `json_set(r.record, ${derived.join(', ')})`;
}

export function createStore(database: Database): RecordStore {
  const isReferrer = (scope: Scope, { from, member }: Referrer, id: string): boolean =>
    database.get(`SELECT 1 FROM ${from.name} WHERE scope = ? AND ${memberOf(member)} = ? LIMIT 1`, scope, id) !==
    undefined;

  return {
    find(scope, { name }, id) {
      const row = database.get<{ record: string }>(`SELECT record FROM ${name} WHERE scope = ? AND id = ?`, scope, id);
      return row && (JSON.parse(row.record) as StoredRecord);
    },
    show(scope, resource, id) {
      const sql = `SELECT ${shownOf(resource)} AS shown FROM ${resource.name} AS r WHERE r.scope = ? AND r.id = ?`;
      return database.get<{ shown: string }>(sql, scope, id)?.shown;
    },
    exists: (scope, { name }, id) =>
      database.get(`SELECT 1 FROM ${name} WHERE scope = ? AND id = ?`, scope, id) !== undefined,
    isEmpty: (scope, { name }) => database.get(`SELECT 1 FROM ${name} WHERE scope = ? LIMIT 1`, scope) === undefined,
    insert(scope, { name }, record) {
      const sql = `INSERT INTO ${name} (scope, id, record) VALUES (?, ?, ?)`;
      database.run(sql, scope, String(record.id), JSON.stringify(record));
    },
    replace(scope, { name }, record) {
      const sql = `UPDATE ${name} SET record = ? WHERE scope = ? AND id = ?`;
      database.run(sql, JSON.stringify(record), scope, String(record.id));
    },
    remove(scope, { name }, id) {
      database.run(`DELETE FROM ${name} WHERE scope = ? AND id = ?`, scope, id);
    },
    isReferredTo: (scope, resource, id) =>
      referrersOf(resource.name).some((referrer) => isReferrer(scope, referrer, id)),
    lastChange(scope, { name }) {
      const sql = `SELECT max(${memberOf('updated_at')}) AS last FROM ${name} WHERE scope = ?`;
      return database.get<{ last: string | null }>(sql, scope)?.last ?? undefined;
    },
    nextNumber(scope, sequence) {
      const sql = `INSERT INTO sequences (scope, name, value) VALUES (?, ?, 1)
        ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value`;
      return database.get<{ value: number }>(sql, scope, sequence)?.value ?? 1;
    },
    moveOn(scope, resource, nowMs) {
      moveOn(database, scope, resource, nowMs);
    },
  };
}

function moveOn(database: Database, scope: Scope, { name, moves = [] }: SandboxResource, nowMs: number): void {
  for (const { from, to, afterMs, stamps } of moves) {
    // The time at which the change was due, not the time of this read.
    const due = `strftime('%Y-%m-%dT%H:%M:%fZ', ${memberOf('created_at')}, '+${afterMs / 1000} seconds')`;
    const stamped = stamps === undefined ? '' : `, '$.${stamps}', ${due}`;
    const sql = `UPDATE ${name} SET record = json_set(record, '$.status', ?, '$.updated_at', ${due}${stamped})
      WHERE scope = ? AND ${memberOf('status')} = ? AND ${memberOf('created_at')} <= ?`;
    database.run(sql, to, scope, from, new Date(nowMs - afterMs).toISOString());
  }
}
