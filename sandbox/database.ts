// Opens the embedded database so that this process alone holds it, and runs SQL through cached prepared statements.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

/** Another living process holds the database. */
export class DatabaseInUse extends Error {}

export interface Database {
  all<Row>(sql: string, ...values: readonly SQLInputValue[]): Row[];
  get<Row>(sql: string, ...values: readonly SQLInputValue[]): Row | undefined;
  run(sql: string, ...values: readonly SQLInputValue[]): void;
  /** All that `work` does, or nothing of it. */
  transaction<Result>(work: () => Result): Result;
  close(): void;
}

const BUSY = 5;
const STATEMENTS_MAX = 500;

export function openDatabase(path: string, schema: readonly string[]): Database {
  // The short wait lets a predecessor finish its shutdown.
  const connection = new DatabaseSync(path, { timeout: 500 });
  try {
    prepare(connection, schema);
  } catch (error) {
    connection.close();
    // The low byte is the kind of the error, the rest its finer shade.
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === BUSY)
      throw new DatabaseInUse('another process holds the database');
    throw error;
  }

  const statement = createStatements(connection);
  return {
    all: <Row>(sql: string, ...values: readonly SQLInputValue[]) => statement(sql).all(...values) as Row[],
    get: <Row>(sql: string, ...values: readonly SQLInputValue[]) => statement(sql).get(...values) as Row | undefined,
    run(sql, ...values) {
      statement(sql).run(...values);
    },
    transaction(work) {
      connection.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        connection.exec('COMMIT');
        return result;
      } catch (error) {
        connection.exec('ROLLBACK');
        throw error;
      }
    },
    close() {
      connection.close();
    },
  };
}

function prepare(connection: DatabaseSync, schema: readonly string[]): void {
  // The exclusive lock is the operating system's, so it ends with the process in every case. It has to be taken before the first access.
  // With WAL a committed write survives the death of the process even without a sync.
  connection.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  // A write touches one page per index. Folding 16 MiB instead of 4 back into the file at a time makes writes a third faster.
  connection.exec('PRAGMA wal_autocheckpoint = 4000');
  connection.function('fold', { deterministic: true }, foldCase);
  connection.exec('BEGIN IMMEDIATE');
  for (const sql of schema) connection.exec(sql);
  connection.exec('COMMIT');
}

/** Texts that differ in case only become equal; SQLite's own lower() handles only ASCII letters. */
export function foldCase(text: SQLInputValue): SQLInputValue {
  return typeof text === 'string' ? text.normalize('NFC').toLowerCase() : text;
}

function createStatements(connection: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>();
  return function statement(sql) {
    let prepared = statements.get(sql);
    if (!prepared) {
      // Each combination of filters is a statement of its own; beyond the bound the oldest is prepared again when needed.
      const oldest = statements.size >= STATEMENTS_MAX ? statements.keys().next().value : undefined;
      if (oldest !== undefined) statements.delete(oldest);
      prepared = connection.prepare(sql);
      statements.set(sql, prepared);
    }
    return prepared;
  };
}
