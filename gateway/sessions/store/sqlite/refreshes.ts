// The steps of a refresh in the embedded store. The file outlives a killed process, so the next process knows which tokens may have been
// redeemed, and does not redeem them again.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../../../shared/stores/sqlite.ts';
import { LEASE_MAX_MS, type TokenColumns } from '../record.ts';
import { isSender, withoutSender, withSender } from '../senders.ts';
import type {
  IssuedTokens,
  RefreshLease,
  RefreshTake,
  RefreshTerms,
  Session,
  SessionRefreshes,
} from '../session-store.ts';

interface SqliteRefreshesOptions {
  readonly database: DatabaseSync;
  now(): number;
  find(hash: string): Session | undefined;
  columnsOf(hash: string, tokens: IssuedTokens): TokenColumns;
}

interface LeaseRow {
  readonly owner: string | null;
  readonly endsAtMs: number;
  readonly fence: number;
  readonly sentAtMs: number | null;
  readonly senders: string;
}

export function createSqliteRefreshes({ database, now, find, columnsOf }: SqliteRefreshesOptions): SessionRefreshes {
  const selectLease = database.prepare(`
    SELECT owner, lease_ends_at AS endsAtMs, fence, sent_at AS sentAtMs, ifnull(sender, '') AS senders
    FROM sessions WHERE hash = ?`);
  const setLease = database.prepare('UPDATE sessions SET owner = ?, lease_ends_at = ?, fence = ? WHERE hash = ?');
  const prolong = database.prepare(`
    UPDATE sessions SET lease_ends_at = ? WHERE hash = ? AND generation = ? AND owner = ? AND fence = ?`);
  const setSent = database.prepare('UPDATE sessions SET sent_at = ?, sender = ? WHERE hash = ?');
  // A later holder, who has a larger fence, may have a successor of its own, unless the writer is the only sender.
  const replace = database.prepare(`
    UPDATE sessions SET tokens = ?, access_ends_at = ?, access_lives = ?, refreshable = ?, generation = ?,
      owner = NULL, lease_ends_at = 0, sent_at = NULL, sender = NULL
    WHERE hash = ? AND generation = ? AND (fence <= ? OR sender = ?)`);
  const clearLease = database.prepare(`
    UPDATE sessions SET owner = NULL, lease_ends_at = 0 WHERE hash = ? AND generation = ? AND owner = ?`);
  const giveUp = database.prepare(`
    UPDATE sessions SET lease_ends_at = 0 WHERE hash = ? AND generation = ? AND owner = ?`);
  const leaseOf = (hash: string) => selectLease.get(hash) as LeaseRow | undefined;

  /**
   * Whether the provider accepts the token again, which it may do for some time after the token was sent first. Returns false after a clock
   * was set back.
   */
  function mayRepeat(sentAtMs: number, reuseMs: number): boolean {
    const sinceMs = now() - sentAtMs;
    return sinceMs >= 0 && sinceMs < reuseMs;
  }

  function take({ hash, generation }: Session, owner: string, terms: RefreshTerms): RefreshTake {
    const { forMs, notAfterMs, reuseMs } = terms;
    if (now() > notAfterMs) return { state: 'late' };
    const session = find(hash);
    if (session === undefined) return { state: 'ended' };
    if (session.generation !== generation) return { state: 'succeeded', session };
    const lease = leaseOf(hash) as LeaseRow;
    if (lease.owner !== null && lease.owner !== owner) {
      const leftMs = Math.min(lease.endsAtMs - now(), LEASE_MAX_MS);
      if (leftMs === LEASE_MAX_MS) setLease.run(lease.owner, now() + leftMs, lease.fence, hash);
      if (leftMs > 0) return { state: 'held', endsInMs: leftMs };
    }
    const isMine = lease.owner === owner;
    if (!isMine && lease.sentAtMs !== null && !mayRepeat(lease.sentAtMs, reuseMs)) return { state: 'unknown', session };
    const fence = isMine ? lease.fence : lease.fence + 1;
    setLease.run(owner, now() + forMs, fence, hash);
    return { state: 'taken', session, lease: { hash, generation, owner, fence, reuseMs } };
  }

  function renew(lease: RefreshLease, forMs: number, sentForMs: number | undefined): boolean {
    const { hash, generation, owner, fence, reuseMs } = lease;
    const { sentAtMs = null, senders = '' } = leaseOf(hash) ?? {};
    const wasSent = sentAtMs !== null && !isSender(senders, owner);
    // The time of this sending decides, because the answer may come later.
    if (sentForMs !== undefined && wasSent && !mayRepeat(sentAtMs + sentForMs, reuseMs)) return false;
    if (prolong.run(now() + forMs, hash, generation, owner, fence).changes === 0) return false;
    if (sentForMs !== undefined)
      setSent.run(sentAtMs ?? now() - Math.floor(sentForMs), withSender(senders, owner), hash);
    return true;
  }

  /** Gives a lease back. The note stays while another owner may have sent the token. */
  function release({ hash, generation, owner }: RefreshLease): void {
    if (find(hash)?.generation !== generation) return;
    clearLease.run(hash, generation, owner);
    const { sentAtMs = null, senders = '' } = leaseOf(hash) ?? {};
    const others = withoutSender(senders, owner);
    if (others === '') setSent.run(null, null, hash);
    else setSent.run(sentAtMs, others, hash);
  }

  return {
    take: (session, owner, terms) => inTransaction(database, () => take(session, owner, terms)),
    renew: (lease, forMs, sentForMs) => inTransaction(database, () => renew(lease, forMs, sentForMs)),
    replaceTokens({ hash, generation, owner, fence }, tokens) {
      const { sealedTokens, accessLivesMs, refreshable } = columnsOf(hash, tokens);
      const row = [sealedTokens, now() + accessLivesMs, accessLivesMs, refreshable ? 1 : 0, generation + 1] as const;
      replace.run(...row, hash, generation, fence, owner);
      return find(hash);
    },
    release: (lease) => inTransaction(database, () => release(lease)),
    giveUp({ hash, generation, owner }) {
      giveUp.run(hash, generation, owner);
    },
  };
}
