// Principals in the database: their content, their addresses, and their relations. A relation is kept by number, so it survives a change of
// names and ends with either side.
import { type Database, openDatabase } from '../database.ts';
import { type Content, EMPTY, type Principal, type PrincipalType } from './fields.ts';

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS principals (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, type TEXT NOT NULL, content TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS addresses (
    address TEXT PRIMARY KEY, owner INTEGER NOT NULL REFERENCES principals ON DELETE CASCADE)`,
  'CREATE INDEX IF NOT EXISTS addresses_by_owner ON addresses (owner)',
  `CREATE TABLE IF NOT EXISTS memberships (
    member INTEGER NOT NULL REFERENCES principals ON DELETE CASCADE,
    parent INTEGER NOT NULL REFERENCES principals ON DELETE CASCADE,
    PRIMARY KEY (member, parent)) WITHOUT ROWID`,
  'CREATE INDEX IF NOT EXISTS memberships_by_parent ON memberships (parent)',
  'CREATE TABLE IF NOT EXISTS bans (address TEXT PRIMARY KEY)',
];

interface Row {
  readonly id: number;
  readonly name: string;
  readonly type: PrincipalType;
  readonly content: string;
}

export interface MailStore {
  /** By the exact name. */
  find(name: string): Principal | undefined;
  /** All of some types in ascending order of the bytes of their names. */
  namesOf(types: readonly PrincipalType[]): readonly Pick<Principal, 'id' | 'name' | 'type'>[];
  count(): number;
  insert(type: PrincipalType, name: string, content: Content): Principal;
  replace(principal: Principal): void;
  remove(id: number): void;
  ownerOf(address: string): number | undefined;
  addressesIn(domain: string): number;
  /** The principals of some types that it belongs to, in the order of their numbers. */
  parents(id: number, types: readonly PrincipalType[]): readonly Principal[];
  /** The names of its members, in the order of their numbers. */
  children(id: number): readonly string[];
  join(member: number, parent: number): void;
  leave(member: number, parent: number): void;
  /** Addresses that are banned for good. */
  bans(): readonly string[];
  ban(address: string): void;
  transaction<Result>(work: () => Result): Result;
  close(): void;
}

/** Throws DatabaseInUse when another process holds the file. */
export function openStore(path: string): MailStore {
  return createStore(openDatabase(path, SCHEMA));
}

function createStore(database: Database): MailStore {
  const { get, all, run } = database;

  function saveAddresses(id: number, { emails }: Content): void {
    run('DELETE FROM addresses WHERE owner = ?', id);
    for (const address of emails) run('INSERT INTO addresses (address, owner) VALUES (?, ?)', address, id);
  }

  return {
    find: (name) => principalOf(get<Row>('SELECT * FROM principals WHERE name = ?', name)),
    namesOf: (types) =>
      all(
        `SELECT id, name, type FROM principals WHERE type IN (SELECT value FROM json_each(?)) ORDER BY name`,
        JSON.stringify(types),
      ),
    count: () => get<{ total: number }>('SELECT count(*) AS total FROM principals')?.total ?? 0,
    insert(type, name, content) {
      const sql = 'INSERT INTO principals (type, name, content) VALUES (?, ?, ?) RETURNING id';
      const id = get<{ id: number }>(sql, type, name, JSON.stringify(content))?.id ?? 0;
      saveAddresses(id, content);
      return { ...content, id, type, name };
    },
    replace({ id, type: _, name, ...content }) {
      run('UPDATE principals SET name = ?, content = ? WHERE id = ?', name, JSON.stringify(content), id);
      saveAddresses(id, content);
    },
    remove: (id) => run('DELETE FROM principals WHERE id = ?', id),
    ownerOf: (address) => get<{ owner: number }>('SELECT owner FROM addresses WHERE address = ?', address)?.owner,
    addressesIn: (domain) =>
      get<{ total: number }>(
        "SELECT count(*) AS total FROM addresses WHERE substr(address, instr(address, '@') + 1) = ?",
        domain,
      )?.total ?? 0,
    parents: (id, types) =>
      all<Row>(
        `SELECT p.* FROM principals AS p JOIN memberships AS m ON m.parent = p.id
          WHERE m.member = ? AND p.type IN (SELECT value FROM json_each(?)) ORDER BY p.id`,
        id,
        JSON.stringify(types),
      ).flatMap((row) => principalOf(row) ?? []),
    children: (id) =>
      all<Row>(
        `SELECT p.name FROM principals AS p JOIN memberships AS m ON m.member = p.id
          WHERE m.parent = ? ORDER BY p.id`,
        id,
      ).map(({ name }) => name),
    join: (member, parent) => run('INSERT OR IGNORE INTO memberships (member, parent) VALUES (?, ?)', member, parent),
    leave: (member, parent) => run('DELETE FROM memberships WHERE member = ? AND parent = ?', member, parent),
    bans: () => all<{ address: string }>('SELECT address FROM bans').map(({ address }) => address),
    ban: (address) => run('INSERT OR IGNORE INTO bans (address) VALUES (?)', address),
    transaction: database.transaction,
    close: database.close,
  };
}

function principalOf(row: Row | undefined): Principal | undefined {
  if (!row) return undefined;
  const { id, name, type, content } = row;
  return { ...EMPTY, ...(JSON.parse(content) as Content), id, name, type };
}
