// The embedded replay store: one SQLite file in the data directory, which survives restarts.

import type { DatabaseSync } from 'node:sqlite';
import { type Machine, REAL_MACHINE } from '../shared/machine.ts';
import { inTransaction, openSqlite } from '../shared/stores/sqlite.ts';
import { applySteps } from '../shared/stores/sqlite-schema.ts';
import {
  type AnswerKey,
  type Claim,
  type ClaimResult,
  createStoreState,
  ENTRY_BYTES,
  type ReplayStore,
  type ReplayStoreStatus,
  type Retention,
  retainMsWithoutRoom,
} from './replay-store.ts';
import { REPLAY_FILE, REPLAY_STEPS } from './sqlite-schema.ts';

/** Rows that are removed at once. This takes about one millisecond for small answers, and a few milliseconds for the longest ones. */
const PURGE_ROWS = 50;
const PURGE_EVERY_MS = 1_000;
/** Pause between slices while more expired rows remain. */
const PURGE_AGAIN_MS = 20;

/** The longest wait for the lock of the file. Another process that writes to the file holds the lock for a fraction of a millisecond. */
const BUSY_TIMEOUT_MS = 100;

/** The row that only probes write. No organization has this name. */
const PROBE: AnswerKey = { organization: '', mode: 'live', digest: 'probe' };
const PROBE_OWNER = 'probe';

const AT_KEY = 'organization = ? AND mode = ? AND digest = ?';

interface SqliteReplayStoreOptions {
  /** The data directory. It is created if it is absent. */
  readonly directory: string;
  /** See `applySteps`. */
  readonly acceptOneWay?: boolean | undefined;
  now(): number;
  onChange(status: ReplayStoreStatus): void;
  readonly machine?: Machine;
}

/** Opens the store. Throws an Error for operators if the file is damaged, newer than this gateway, or older and not accepted. */
export function createSqliteReplayStore({
  directory,
  acceptOneWay,
  now,
  onChange,
  machine = REAL_MACHINE,
}: SqliteReplayStoreOptions): ReplayStore {
  const database = openSqlite({
    directory,
    file: REPLAY_FILE,
    what: 'The idempotency store',
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    prepare: (opened) => applySteps(opened, REPLAY_STEPS, { acceptOneWay }),
  });
  const usage = createStorageUsage(database);
  const state = createStoreState('sqlite', onChange, { state: 'up', now });

  const { insert, select, isOwner, update, endLease, endLeaseTakenOver, remove } = prepareStatements(database);

  function reportingFailure<T>(write: () => T): T {
    try {
      return write();
    } catch (cause) {
      state.note('away', cause);
      throw cause;
    }
  }

  function begin({ organization, mode, digest }: AnswerKey, claim: Claim): ClaimResult {
    const nowMs = now();
    const { fingerprint, owner, sentAtMs, upstream, runsAgain } = claim;
    const leaseEndsAtMs = nowMs + claim.leaseMs;
    const row = [fingerprint, owner, sentAtMs, upstream, leaseEndsAtMs, leaseEndsAtMs + claim.retainMs] as const;
    const { changes } = insert.run(organization, mode, digest, ...row, nowMs, nowMs, runsAgain ? 1 : 0, nowMs);
    if (changes === 1) {
      state.note('up');
      return { state: 'started' };
    }
    return toBegun(select.get(organization, mode, digest), fingerprint, nowMs);
  }

  function finish(answerKey: AnswerKey, owner: string, outcome: Buffer | undefined, retention: Retention): void {
    const { organization, mode, digest } = answerKey;
    const nowMs = now();
    if (isOwner.get(organization, mode, digest, owner, nowMs) === undefined) return;
    const hasRoom = usage.count(organization, outcome, retention, nowMs);
    const endsAtMs = nowMs + (hasRoom ? retention.retainMs : retainMsWithoutRoom(retention));
    update.run(hasRoom ? (outcome ?? null) : null, endsAtMs, organization, mode, digest);
  }

  function forget({ organization, mode, digest }: AnswerKey, owner: string): void {
    const nowMs = now();
    const { changes } = endLeaseTakenOver.run(nowMs, nowMs, organization, mode, digest, owner, nowMs);
    if (changes === 0) remove.run(organization, mode, digest, owner);
  }

  function giveUp({ organization, mode, digest }: AnswerKey, owner: string, retention: Retention): void {
    const nowMs = now();
    const { changes } = endLease.run(nowMs, nowMs + retention.retainMs, organization, mode, digest, owner, nowMs);
    if (changes === 1) usage.add(organization, retention, nowMs);
  }

  /** Writes a row and removes it, because without a write of a client, nothing else would show that the store accepts writes again. */
  function probe(): void {
    if (state.status().state === 'up') return;
    const nowMs = now();
    const { organization, mode, digest } = PROBE;
    inTransaction(database, () => {
      insert.run(organization, mode, digest, '', PROBE_OWNER, nowMs, '', nowMs, nowMs, nowMs, nowMs, 0, nowMs);
      remove.run(organization, mode, digest, PROBE_OWNER);
    });
    state.note('up');
  }

  const purge = createPurge(database, { now, probe, machine });

  return {
    begin: (answerKey, claim) => reportingFailure(() => begin(answerKey, claim)),
    finish(answerKey, owner, outcome, retention) {
      reportingFailure(() => inTransaction(database, () => finish(answerKey, owner, outcome, retention)));
    },
    forget(answerKey, owner) {
      inTransaction(database, () => forget(answerKey, owner));
    },
    giveUp(answerKey, owner, retention) {
      inTransaction(database, () => giveUp(answerKey, owner, retention));
    },
    status: state.status,
    close() {
      state.end();
      purge.stop();
      database.close();
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  return {
    // An expired row is treated as absent, whether or not it has been removed yet. A running request has an empty record if it took over
    // the row of a dead owner, and otherwise no record.
    insert: database.prepare(`
      INSERT INTO answers (organization, mode, digest, fingerprint, owner, sent_at, upstream, lease_ends_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
      SET fingerprint = excluded.fingerprint, owner = excluded.owner, sent_at = excluded.sent_at, upstream = excluded.upstream,
        lease_ends_at = excluded.lease_ends_at, expires_at = excluded.expires_at, record = iif(expires_at <= ?, NULL, x'')
      WHERE expires_at <= ?
        OR (? AND owner IS NOT NULL AND lease_ends_at <= ? AND fingerprint = excluded.fingerprint)`),
    select: database.prepare(`
      SELECT fingerprint, owner, record, sent_at, upstream, lease_ends_at FROM answers WHERE ${AT_KEY}`),
    isOwner: database.prepare(`SELECT 1 FROM answers WHERE ${AT_KEY} AND owner = ? AND expires_at > ?`),
    update: database.prepare(`
      UPDATE answers SET owner = NULL, sent_at = NULL, upstream = NULL, lease_ends_at = NULL, record = ?, expires_at = ?
      WHERE ${AT_KEY}`),
    endLease: database.prepare(`
      UPDATE answers SET lease_ends_at = ?, expires_at = ? WHERE ${AT_KEY} AND owner = ? AND expires_at > ?`),
    endLeaseTakenOver: database.prepare(`
      UPDATE answers SET expires_at = ? + expires_at - lease_ends_at, lease_ends_at = ?
      WHERE ${AT_KEY} AND owner = ? AND record IS NOT NULL AND expires_at > ?`),
    remove: database.prepare(`DELETE FROM answers WHERE ${AT_KEY} AND owner = ?`),
  };
}

/** @param row undefined if another process on the same file has removed it meanwhile, so that the request was running a moment ago */
function toBegun(row: Record<string, unknown> | undefined, fingerprint: string, nowMs: number): ClaimResult {
  if (row === undefined) return { state: 'running' };
  if (row.fingerprint !== fingerprint) return { state: 'different' };
  const { owner, record, sent_at: sentAtMs, upstream, lease_ends_at: leaseEndsAtMs } = row;
  if (owner === null) {
    return { state: 'done', outcome: record === null ? undefined : Buffer.from(record as Uint8Array) };
  }
  if ((leaseEndsAtMs as number) > nowMs) return { state: 'running' };
  return {
    state: 'unknown',
    owner: owner as string,
    sentAtMs: (sentAtMs as number | null) ?? undefined,
    upstream: (upstream as string | null) ?? undefined,
  };
}

interface PurgeOptions {
  now(): number;
  /** Tries a write while the store is away; throws if it fails. */
  probe(): void;
  readonly machine: Machine;
}

/** Removes expired rows in slices, because the removal of a whole day's rows at once would block all requests. */
function createPurge(
  database: DatabaseSync,
  { now, probe, machine: { setTimeout, clearTimeout } }: PurgeOptions,
): { stop(): void } {
  const removeSome = database.prepare(
    `DELETE FROM answers WHERE rowid IN (SELECT rowid FROM answers WHERE expires_at <= ? LIMIT ${PURGE_ROWS})`,
  );
  let next = setTimeout(purge, PURGE_EVERY_MS).unref();

  function purge(): void {
    let waitMs = PURGE_EVERY_MS;
    try {
      if (removeSome.run(now()).changes === PURGE_ROWS) waitMs = PURGE_AGAIN_MS;
      probe();
    } catch {
      // Another process is writing to the file, or the disk is full. The next slice will remove these rows.
    }
    next = setTimeout(purge, waitMs).unref();
  }

  return { stop: () => clearTimeout(next) };
}

interface StorageUsage {
  /** Counts an outcome if it fits into the bound; otherwise counts nothing and returns false. Call it in a transaction. */
  count(organization: string, outcome: Buffer | undefined, retention: Retention, nowMs: number): boolean;
  /** Counts an unknown outcome, whether or not it fits into the bound. Call it in a transaction. */
  add(organization: string, retention: Retention, nowMs: number): void;
}

/** Counts the bytes that each organization has stored in its current span. */
function createStorageUsage(database: DatabaseSync): StorageUsage {
  const select = database.prepare('SELECT bytes, ends_at FROM usage WHERE organization = ? AND ends_at > ?');
  const replace = database.prepare('INSERT OR REPLACE INTO usage VALUES (?, ?, ?)');

  function spanOf(organization: string, retainMs: number, nowMs: number): { bytes: number; endsAtMs: number } {
    const span = select.get(organization, nowMs) ?? { bytes: 0, ends_at: nowMs + retainMs };
    return { bytes: Number(span.bytes), endsAtMs: Number(span.ends_at) };
  }

  return {
    count(organization, outcome, { retainMs, organizationBytesMax }, nowMs) {
      const span = spanOf(organization, retainMs, nowMs);
      const bytes = span.bytes + ENTRY_BYTES + (outcome?.length ?? 0);
      if (bytes > organizationBytesMax) return false;
      replace.run(organization, bytes, span.endsAtMs);
      return true;
    },
    add(organization, { retainMs }, nowMs) {
      const span = spanOf(organization, retainMs, nowMs);
      replace.run(organization, span.bytes + ENTRY_BYTES, span.endsAtMs);
    },
  };
}
