// Bytes that each organization has stored in its present span, in the file of the answers.

import type { DatabaseSync } from 'node:sqlite';
import { type Retention, SLOT_BYTES } from './store.ts';

interface StorageUsage {
  /** Counts a record if it fits into the bound; otherwise counts nothing and returns false. Call it in a transaction. */
  count(organization: string, record: Buffer | undefined, retention: Retention, nowMs: number): boolean;
  /** Counts an unknown outcome, whether or not it fits into the bound. Call it in a transaction. */
  add(organization: string, retention: Retention, nowMs: number): void;
}

export function createStorageUsage(database: DatabaseSync): StorageUsage {
  const select = database.prepare('SELECT bytes, ends_at FROM usage WHERE organization = ? AND ends_at > ?');
  const replace = database.prepare('INSERT OR REPLACE INTO usage VALUES (?, ?, ?)');

  function spanOf(organization: string, retainMs: number, nowMs: number): { bytes: number; endsAtMs: number } {
    const span = select.get(organization, nowMs) ?? { bytes: 0, ends_at: nowMs + retainMs };
    return { bytes: Number(span.bytes), endsAtMs: Number(span.ends_at) };
  }

  return {
    count(organization, record, { retainMs, organizationBytesMax }, nowMs) {
      const span = spanOf(organization, retainMs, nowMs);
      const bytes = span.bytes + SLOT_BYTES + (record?.length ?? 0);
      if (bytes > organizationBytesMax) return false;
      replace.run(organization, bytes, span.endsAtMs);
      return true;
    },
    add(organization, { retainMs }, nowMs) {
      const span = spanOf(organization, retainMs, nowMs);
      replace.run(organization, span.bytes + SLOT_BYTES, span.endsAtMs);
    },
  };
}
