// Makes a write with an Idempotency-Key happen once: the answer is stored in the transaction of the write itself, so not
// even a kill between the two can part them. Throws idempotency_key_malformed or idempotency_key_reused.
import type { RecordAnswer } from './answer.ts';
import type { Database } from './database.ts';
import { SandboxRefusal } from './refusals.ts';
import type { Scope } from './store.ts';
import type { Clock } from './write.ts';

const RETENTION_MS = 24 * 60 * 60 * 1000;
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

interface Row {
  readonly fingerprint: string;
  readonly status: number;
  readonly location: string | null;
  readonly body: string;
}

/** The key itself, whether it came raw or as a quoted string; undefined if there is none. */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = QUOTED.exec(header)?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? header;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new SandboxRefusal('idempotency_key_malformed');
  return key;
}

export interface WriteMemory {
  /** Does the write, or gives the answer that the same request got before. */
  once(scope: Scope, key: string, fingerprint: string, write: () => RecordAnswer): RecordAnswer;
}

export function createWriteMemory(database: Database, now: Clock): WriteMemory {
  function earlier(scope: Scope, key: string, fingerprint: string): RecordAnswer | undefined {
    database.run('DELETE FROM idempotency WHERE created_at <= ?', now() - RETENTION_MS);
    const sql = 'SELECT fingerprint, status, location, body FROM idempotency WHERE scope = ? AND key = ?';
    const row = database.get<Row>(sql, scope, key);
    if (!row) return undefined;
    if (row.fingerprint !== fingerprint) throw new SandboxRefusal('idempotency_key_reused');
    const location = row.location === null ? {} : { location: row.location };
    return { status: row.status, body: row.body, headers: { ...location, 'idempotent-replayed': 'true' } };
  }

  function keep(scope: Scope, key: string, fingerprint: string, { status, body, headers }: RecordAnswer): void {
    const sql = `INSERT INTO idempotency (scope, key, fingerprint, status, location, body, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)`;
    database.run(sql, scope, key, fingerprint, status, headers?.location ?? null, body, now());
  }

  return {
    once(scope, key, fingerprint, write) {
      try {
        return database.transaction(() => {
          const answered = earlier(scope, key, fingerprint);
          if (answered) return answered;
          const answer = write();
          keep(scope, key, fingerprint, answer);
          return answer;
        });
      } catch (error) {
        // The write was taken back with its transaction. A conflict may be gone by the next attempt, so it is not kept.
        const final =
          error instanceof SandboxRefusal && error.status !== 409 && error.code !== 'idempotency_key_reused';
        if (final) database.transaction(() => keep(scope, key, fingerprint, error));
        throw error;
      }
    },
  };
}
