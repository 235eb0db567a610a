// The steps of a refresh in the embedded store: its file outlives the process, so that a token which a killed process may have redeemed is
// not redeemed again.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../../../shared/sqlite.ts';
import type { TokenColumns } from '../record.ts';
import type { IssuedTokens, RefreshTake, Session, SessionRefreshes } from '../session-store.ts';

export interface SqliteRefreshesOptions {
  readonly database: DatabaseSync;
  now(): number;
  find(hash: string): Session | undefined;
  columnsOf(hash: string, tokens: IssuedTokens): TokenColumns;
}

export function createSqliteRefreshes({ database, now, find, columnsOf }: SqliteRefreshesOptions): SessionRefreshes {
  const selectLease = database.prepare('SELECT owner, lease_ends_at AS endsAtMs, fence FROM sessions WHERE hash = ?');
  const setLease = database.prepare('UPDATE sessions SET owner = ?, lease_ends_at = ?, fence = ? WHERE hash = ?');
  const prolong = database.prepare(
    'UPDATE sessions SET lease_ends_at = ? WHERE hash = ? AND generation = ? AND owner = ? AND fence = ?',
  );
  const replace = database.prepare(`
    UPDATE sessions SET tokens = ?, access_ends_at = ?, access_lives = ?, refreshable = ?, generation = ?, owner = NULL, lease_ends_at = 0
    WHERE hash = ? AND generation = ? AND fence <= ?`);
  const release = database.prepare(`
    UPDATE sessions SET owner = NULL, lease_ends_at = 0 WHERE hash = ? AND generation = ? AND owner = ?`);
  const giveUp = database.prepare(`
    UPDATE sessions SET lease_ends_at = 0 WHERE hash = ? AND generation = ? AND owner = ?`);

  function take({ hash, generation }: Session, owner: string, forMs: number, notAfterMs: number): RefreshTake {
    if (now() > notAfterMs) return { state: 'late' };
    const session = find(hash);
    if (session === undefined) return { state: 'ended' };
    if (session.generation !== generation) return { state: 'succeeded', session };
    const lease = selectLease.get(hash) as { owner: string | null; endsAtMs: number; fence: number };
    if (lease.owner !== null && lease.owner !== owner) {
      // One that ends later than a new one would was written before the clock was set back.
      const leftMs = Math.min(lease.endsAtMs - now(), forMs);
      return leftMs > 0 ? { state: 'held', endsInMs: leftMs } : { state: 'unknown', session };
    }
    const fence = lease.owner === owner ? lease.fence : lease.fence + 1;
    setLease.run(owner, now() + forMs, fence, hash);
    return { state: 'taken', session, lease: { hash, generation, owner, fence } };
  }

  return {
    take: (session, owner, forMs, notAfterMs) => inTransaction(database, () => take(session, owner, forMs, notAfterMs)),
    renew: ({ hash, generation, owner, fence }, forMs) =>
      prolong.run(now() + forMs, hash, generation, owner, fence).changes === 1,
    replaceTokens({ hash, generation, fence }, tokens) {
      const { sealedTokens, accessLivesMs, refreshable } = columnsOf(hash, tokens);
      const row = [sealedTokens, now() + accessLivesMs, accessLivesMs, refreshable ? 1 : 0, generation + 1] as const;
      replace.run(...row, hash, generation, fence);
      return find(hash);
    },
    release({ hash, generation, owner }) {
      release.run(hash, generation, owner);
    },
    giveUp({ hash, generation, owner }) {
      giveUp.run(hash, generation, owner);
    },
  };
}
