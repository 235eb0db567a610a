// The embedded session store: one SQLite file in the data directory, for a single gateway.

import type { DatabaseSync } from 'node:sqlite';
import { type Machine, REAL_MACHINE } from '../../../shared/machine.ts';
import type { KeyRing } from '../../../shared/stores/seal.ts';
import { inTransaction, openSqlite } from '../../../shared/stores/sqlite.ts';
import { applySteps } from '../../../shared/stores/sqlite-schema.ts';
import { IDLE_SLACK_MS, LOGIN_MAX_MS, openTokens, personName, sidName, tokenColumns, tokenName } from '../record.ts';
import type { EndReason, LoginBounds, NewSession, ProviderLogout, Session, SessionStore } from '../session-store.ts';
import { createSqliteRefreshes } from './refreshes.ts';
import { createRows, type Rows } from './session-rows.ts';
import { SESSIONS_FILE, SESSIONS_STEPS } from './session-schema.ts';

const BUSY_TIMEOUT_MS = 1000;
const PURGE_EVERY_MS = 5000;
/** The number of rows that are removed at once, in about a millisecond. */
const PURGE_ROWS = 50;

interface SqliteSessionStoreOptions {
  /** The data directory. It is created if it is absent. */
  readonly directory: string;
  /** See `applySteps`. */
  readonly acceptOneWay?: boolean | undefined;
  readonly keys: KeyRing;
  now(): number;
  readonly machine?: Machine | undefined;
}

/** Opens the store. Throws an Error for operators if the file is damaged, newer than this gateway, or older and not accepted. */
export function createSqliteSessionStore(options: SqliteSessionStoreOptions): SessionStore {
  const { directory, acceptOneWay, keys, now, machine = REAL_MACHINE } = options;
  const database = openSqlite({
    directory,
    file: SESSIONS_FILE,
    what: 'The session store',
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    prepare: (opened) => applySteps(opened, SESSIONS_STEPS, { acceptOneWay }),
  });
  const listeners = new Set<() => void>();
  const rows = createRows(database, now);
  const purge = createPurge(database, now, machine);
  const inOneStep = <T>(work: () => T) => inTransaction(database, work);

  function announcing<T extends Session | readonly Session[] | undefined>(work: () => T): T {
    const ended = inOneStep(work);
    if (ended !== undefined) for (const listener of listeners) listener();
    return ended;
  }

  return {
    nowMs: now,
    create: (session, tokens, login) =>
      announcing(() => {
        const { hash } = session;
        const stored = rows.find(hash);
        if (stored !== undefined || !mayBegin(rows, session, login, now())) return stored;
        const others = rows
          .ofPerson(personName(session.provider, session.subject))
          .toSorted((one, other) => one.usedAtMs - other.usedAtMs);
        endRows(rows, others.slice(0, Math.max(0, others.length + 1 - login.perPersonMax)), 'replaced');
        rows.insert(session, tokenColumns(keys, hash, tokens));
        return rows.find(hash);
      }),
    find: rows.find,
    get: rows.get,
    list: rows.list,
    touch(uses) {
      inOneStep(() => {
        for (const [hash, usedAtMs] of uses) rows.touch(hash, Math.min(usedAtMs, now()));
      });
    },
    end: (id, reason) =>
      announcing(() => {
        const session = rows.get(id);
        return session && endRows(rows, [session], reason)[0];
      }),
    endSubject: (provider, subject, reason) =>
      announcing(() => {
        const person = personName(provider, subject);
        rows.remember(`person ${person}`, now() + LOGIN_MAX_MS);
        return endRows(rows, rows.ofPerson(person), reason);
      }),
    endByProvider: (logout) => announcing(() => endByProvider(rows, logout, now())),
    openTokens: (session) => openTokens(keys, session),
    refreshes: createSqliteRefreshes({
      database,
      now,
      find: rows.find,
      columnsOf: (hash, tokens) => tokenColumns(keys, hash, tokens),
    }),
    ends: {
      since: rows.endsSince,
      subscribe(onAnnounced) {
        listeners.add(onAnnounced);
        return () => void listeners.delete(onAnnounced);
      },
    },
    close() {
      purge.stop();
      database.close();
    },
  };
}

/** Ends sessions in the transaction of the caller. */
function endRows(rows: Rows, ended: readonly Session[], reason: EndReason): readonly Session[] {
  for (const session of ended) rows.end(session, reason);
  return ended;
}

/** Whether no logout since the beginning of the login forbids the session. */
function mayBegin(
  rows: Rows,
  { provider, subject, providerSid }: NewSession,
  { begunAtMs }: LoginBounds,
  nowMs: number,
) {
  // A login that seems to begin in the future began before the clock was set back.
  if (nowMs - begunAtMs > LOGIN_MAX_MS || begunAtMs > nowMs) return false;
  if (providerSid !== undefined && rows.logoutAt(`sid ${sidName(provider, providerSid)}`) !== undefined) return false;
  const loggedOutAt = rows.logoutAt(`person ${personName(provider, subject)}`);
  return loggedOutAt === undefined || loggedOutAt < begunAtMs;
}

function endByProvider(rows: Rows, logout: ProviderLogout, nowMs: number): readonly Session[] | undefined {
  const { provider, sid, subject = '', rememberUntilMs } = logout;
  const token = `token ${tokenName(logout)}`;
  if (rows.logoutAt(token) !== undefined) return undefined;
  rows.remember(token, Math.max(rememberUntilMs, nowMs + LOGIN_MAX_MS));
  const name = sid === undefined ? personName(provider, subject) : sidName(provider, sid);
  rows.remember(`${sid === undefined ? 'person' : 'sid'} ${name}`, nowMs + LOGIN_MAX_MS);
  return endRows(rows, sid === undefined ? rows.ofPerson(name) : rows.ofSid(name), 'provider');
}

/** Removes expired rows in slices, because requests wait for a slice. */
function createPurge(database: DatabaseSync, now: () => number, { setInterval, clearInterval }: Machine) {
  const sessions = database.prepare(`DELETE FROM sessions WHERE hash IN (
    SELECT hash FROM sessions WHERE min(ends_at, used_at + idle) <= ? - ${IDLE_SLACK_MS} LIMIT ${PURGE_ROWS})`);
  const logouts = database.prepare(`DELETE FROM logouts WHERE name IN (
    SELECT name FROM logouts WHERE kept_until <= ? LIMIT ${PURGE_ROWS})`);
  const timer = setInterval(() => {
    try {
      sessions.run(now());
      logouts.run(now());
    } catch {
      // Another process is writing. The next slice removes the same rows.
    }
  }, PURGE_EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}
