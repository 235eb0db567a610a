// The state that the targets share: entries, the keys of writes, and every execution of a write in the order in which they happened. A
// write that is executed twice is there twice.

import { DatabaseSync } from 'node:sqlite';

export interface State {
  readonly id: string;
  /** Which of the entries of its organization, from 1 and without gaps. */
  readonly ordinal: number;
  readonly version: number;
  readonly note: string;
  /** Characters that an answer about it has besides. */
  readonly size: number;
}

export interface Execution extends State {
  readonly write: string;
  readonly organization: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface Write {
  /** Made by the client, a new one for each write. */
  readonly write: string;
  readonly size?: number;
}

export interface Journal {
  create(organization: string, write: Write): State;
  /** Undefined: there is no such entry. */
  update(organization: string, id: string, write: Write): State | undefined;
  get(organization: string, id: string): State | undefined;
  /** The latest first. */
  list(organization: string, limit: number): State[];
  /** Does it once per key: the first outcome is kept together with its effect, and given again. */
  once<T>(organization: string, key: string, act: () => T): { readonly outcome: T; readonly replayed: boolean };
  executions(): Execution[];
  close(): void;
}

const schema = `
  CREATE TABLE IF NOT EXISTS entries (organization TEXT, id TEXT PRIMARY KEY, ordinal INTEGER, state TEXT);
  CREATE TABLE IF NOT EXISTS keys (organization TEXT, key TEXT, outcome TEXT, PRIMARY KEY (organization, key));
  CREATE TABLE IF NOT EXISTS executions (seq INTEGER PRIMARY KEY, execution TEXT);
`;

/** A process that is killed loses no committed write; only a machine that fails would. */
export function openJournal(path: string): Journal {
  const database = new DatabaseSync(path, { timeout: 10_000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  database.exec(schema);
  const insert = database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?)');
  const replace = database.prepare('UPDATE entries SET state = ? WHERE id = ?');
  const one = database.prepare('SELECT state FROM entries WHERE organization = ? AND id = ?');
  const latest = database.prepare('SELECT state FROM entries WHERE organization = ? ORDER BY ordinal DESC LIMIT ?');
  const highest = database.prepare('SELECT max(ordinal) AS ordinal FROM entries WHERE organization = ?');
  const note = database.prepare('INSERT INTO executions (execution) VALUES (?)');
  const findKey = database.prepare('SELECT outcome FROM keys WHERE organization = ? AND key = ?');
  const keepKey = database.prepare('INSERT INTO keys VALUES (?, ?, ?)');
  const all = database.prepare('SELECT execution FROM executions ORDER BY seq');

  const stateOf = (row: unknown) =>
    row === undefined ? undefined : (JSON.parse((row as { state: string }).state) as State);

  function execute(organization: string, { write }: Write, state: State): State {
    note.run(JSON.stringify({ ...state, write, organization, at: Date.now() } satisfies Execution));
    return state;
  }

  function atomically<T>(act: () => T): T {
    if (database.isTransaction) return act();
    database.exec('BEGIN IMMEDIATE');
    try {
      const done = act();
      database.exec('COMMIT');
      return done;
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }

  const get = (organization: string, id: string) => stateOf(one.get(organization, id));
  return {
    get,
    create: (organization, write) =>
      atomically(() => {
        const ordinal = Number((highest.get(organization) as { ordinal: number | null }).ordinal ?? 0) + 1;
        const id = `${organization}-${ordinal}`;
        const state = { id, ordinal, version: 1, note: write.write, size: write.size ?? 0 };
        insert.run(organization, id, ordinal, JSON.stringify(state));
        return execute(organization, write, state);
      }),
    update: (organization, id, write) =>
      atomically(() => {
        const before = get(organization, id);
        if (before === undefined) return undefined;
        const state = { ...before, version: before.version + 1, note: write.write };
        replace.run(JSON.stringify(state), id);
        return execute(organization, write, state);
      }),
    list: (organization, limit) => latest.all(organization, limit).map((row) => stateOf(row) as State),
    once: <T>(organization: string, key: string, act: () => T) =>
      atomically(() => {
        const kept = findKey.get(organization, key) as { outcome: string } | undefined;
        if (kept) return { outcome: JSON.parse(kept.outcome) as T, replayed: true };
        const outcome = act();
        keepKey.run(organization, key, JSON.stringify(outcome));
        return { outcome, replayed: false };
      }),
    executions: () => all.all().map((row) => JSON.parse((row as { execution: string }).execution) as Execution),
    close: () => database.close(),
  };
}
