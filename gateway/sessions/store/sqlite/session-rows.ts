// The statements of the embedded session store that read and write sessions, ends and logouts.

import type { DatabaseSync } from 'node:sqlite';
import {
  ENDS_MAX,
  fixedPartOf,
  IDLE_SLACK_MS,
  personName,
  readFixedPart,
  sidName,
  type TokenColumns,
} from '../record.ts';
import type { EndReason, NewSession, Session, SessionEnd, SessionPage, SessionsOf } from '../session-store.ts';

const COLUMNS = `id, hash, fixed, created_at AS createdAtMs, ends_at AS endsAtMs, idle AS idleMs, used_at AS usedAtMs,
  access_ends_at AS accessEndsAtMs, access_lives AS accessLivesMs, refreshable, generation, tokens AS sealedTokens`;
/** The condition that a session has reached neither its absolute end nor its idle end. */
const ALIVE = `ends_at > :now AND used_at + idle + ${IDLE_SLACK_MS} > :now`;

export type Rows = ReturnType<typeof createRows>;

export function createRows(database: DatabaseSync, now: () => number) {
  const selecting = (condition: string) =>
    database.prepare(`SELECT ${COLUMNS} FROM sessions WHERE ${ALIVE} AND ${condition}`);
  const byHash = selecting('hash = :hash');
  const byId = selecting('id = :id');
  const byPerson = selecting('person = :name ORDER BY created_at, id');
  const bySid = selecting('sid = :name');
  const page = '(created_at, id) > (:createdAtMs, :id) ORDER BY created_at, id LIMIT :limit';
  const pageOfPerson = selecting(`person = :name AND ${page}`);
  const pageOfOrganization = selecting(`organization = :name AND ${page}`);
  const insert = database.prepare(`
    INSERT OR REPLACE INTO sessions (hash, id, fixed, organization, person, sid, created_at, ends_at, idle, used_at,
      access_ends_at, access_lives, refreshable, generation, tokens)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`);
  const remove = database.prepare('DELETE FROM sessions WHERE hash = ?');
  const update = database.prepare('UPDATE sessions SET used_at = ? WHERE hash = ? AND used_at < ?');
  const insertEnd = database.prepare('INSERT INTO ends (at, id, hash, reason) VALUES (?, ?, ?, ?)');
  const trimEnds = database.prepare(`DELETE FROM ends WHERE sequence <= ? - ${ENDS_MAX}`);
  const latestEnd = database.prepare('SELECT max(sequence) AS latest FROM ends');
  const endsAfter = database.prepare(
    'SELECT sequence, at AS atMs, id, hash, reason FROM ends WHERE sequence > ? ORDER BY sequence LIMIT ?',
  );
  const logout = database.prepare('SELECT at FROM logouts WHERE name = ? AND kept_until > ?');
  const putLogout = database.prepare('INSERT OR REPLACE INTO logouts VALUES (?, ?, ?)');

  const find = (hash: string) => sessionOfRow(byHash.get({ now: now(), hash }));
  const sessionsOf = (found: readonly Record<string, unknown>[]) => found.map((row) => sessionOfRow(row) as Session);

  return {
    find,
    get: (id: string) => sessionOfRow(byId.get({ now: now(), id })),
    ofPerson: (name: string) => sessionsOf(byPerson.all({ now: now(), name })),
    ofSid: (name: string) => sessionsOf(bySid.all({ now: now(), name })),
    list(of: SessionsOf, { after, limit }: SessionPage) {
      const from = { createdAtMs: after?.createdAtMs ?? -1, id: after?.id ?? '', limit, now: now() };
      if ('organization' in of) return sessionsOf(pageOfOrganization.all({ ...from, name: of.organization }));
      return sessionsOf(pageOfPerson.all({ ...from, name: personName(of.person.provider, of.person.subject) }));
    },
    insert(session: NewSession, { sealedTokens, accessLivesMs, refreshable }: TokenColumns) {
      const { hash, id, provider, subject, providerSid, organization, livesMs, idleMs } = session;
      const nowMs = now();
      const sid = providerSid === undefined ? null : sidName(provider, providerSid);
      const who = [hash, id, fixedPartOf(session), organization, personName(provider, subject), sid] as const;
      const times = [nowMs, nowMs + Math.floor(livesMs), Math.floor(idleMs), nowMs] as const;
      insert.run(...who, ...times, nowMs + accessLivesMs, accessLivesMs, refreshable ? 1 : 0, sealedTokens);
    },
    touch: (hash: string, usedAtMs: number) => update.run(usedAtMs, hash, usedAtMs),
    end({ hash, id }: Session, reason: EndReason) {
      remove.run(hash);
      const { lastInsertRowid } = insertEnd.run(now(), id, hash, reason);
      trimEnds.run(lastInsertRowid);
    },
    endsSince(sequence: number, limit: number) {
      const changes = endsAfter.all(sequence, limit) as unknown as SessionEnd[];
      return { latest: Number(latestEnd.get()?.latest ?? 0), changes, nowMs: now() };
    },
    logoutAt: (name: string) => logout.get(name, now())?.at as number | undefined,
    remember: (name: string, untilMs: number) => putLogout.run(name, now(), untilMs),
  };
}

/** Throws if the row is damaged. */
function sessionOfRow(row: Record<string, unknown> | undefined): Session | undefined {
  if (row === undefined) return undefined;
  const { fixed, refreshable, ...columns } = row;
  return {
    ...(columns as Pick<Session, 'id' | 'hash' | 'createdAtMs' | 'endsAtMs' | 'idleMs' | 'usedAtMs'> &
      Pick<Session, 'accessEndsAtMs' | 'accessLivesMs' | 'generation' | 'sealedTokens'>),
    ...readFixedPart(fixed as string),
    refreshable: refreshable === 1,
  };
}
