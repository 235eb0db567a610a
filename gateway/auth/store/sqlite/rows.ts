// Organizations and keys as rows of the embedded key store: inserts and reads them one by one.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Organization } from '../../../exchange/caller.ts';
import { KEY_MEMBERS } from '../../key-json.ts';
import type { StoredKey } from '../stored-key.ts';

type Row = Readonly<Record<string, unknown>>;

export interface OrganizationRows {
  /** Returns false if the id is taken. */
  insert(organization: Organization): boolean;
  read(id: string): Organization | undefined;
}

export interface KeyRows {
  /** Returns false if the id or the digest is taken. */
  insert(key: StoredKey): boolean;
  /** Inserts a new key. Throws if its id or digest exists. Both are random, so this would be a fault of the gateway. */
  insertNew(key: StoredKey): void;
  read(id: string): StoredKey | undefined;
}

/** The columns of a key, in the order of the table. */
const KEY_COLUMNS = Object.entries(KEY_MEMBERS) as [keyof StoredKey, string][];

export function createOrganizationRows(database: DatabaseSync): OrganizationRows {
  const insert = database.prepare('INSERT INTO organizations VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING');
  const select = database.prepare('SELECT * FROM organizations WHERE id = ?');
  return {
    insert: ({ id, name, tier, state, contacts, operator }) =>
      insert.run(id, name, tier, state, JSON.stringify(contacts), operator ? 1 : 0).changes === 1,
    read(id) {
      const row = select.get(id);
      return row && organizationOf(row);
    },
  };
}

export function organizationOf({ id, name, tier, state, contacts, operator }: Row): Organization {
  return { id, name, tier, state, contacts: JSON.parse(contacts as string), operator: operator === 1 } as Organization;
}

export function createKeyRows(database: DatabaseSync): KeyRows {
  const places = KEY_COLUMNS.map(() => '?').join(', ');
  const insertOne = database.prepare(`INSERT INTO keys VALUES (${places}) ON CONFLICT DO NOTHING`);
  const select = database.prepare('SELECT * FROM keys WHERE id = ?');

  function insert(key: StoredKey): boolean {
    return insertOne.run(...KEY_COLUMNS.map(([member]) => toCell(key[member]))).changes === 1;
  }

  return {
    insert,
    insertNew(key) {
      if (!insert(key)) throw new Error(`The key ${key.id} exists already.`);
    },
    read(id) {
      const row = select.get(id);
      return row && keyOf(row);
    },
  };
}

export function keyOf(row: Row): StoredKey {
  const key: Record<string, unknown> = {};
  for (const [member, column] of KEY_COLUMNS) key[member] = row[column] ?? undefined;
  key.scopes = JSON.parse(row.scopes as string);
  key.allowedCidrs = JSON.parse(row.allowed_cidrs as string);
  return key as unknown as StoredKey;
}

function toCell(value: StoredKey[keyof StoredKey]): SQLInputValue {
  return typeof value === 'object' ? JSON.stringify(value) : (value ?? null);
}
