// Organizations in the embedded key store.

import type { DatabaseSync } from 'node:sqlite';
import type { Organization } from '../../../exchange.ts';
import { inTransaction } from '../../../shared/sqlite.ts';
import type { ChangeKind, OrganizationRecords } from '../key-store.ts';
import type { WriteChange } from './audit.ts';
import { inSqlitePages } from './pages.ts';

interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  readonly state: Organization['state'];
  readonly contacts: string;
  readonly operator: number;
}

export type InsertOrganization = (organization: Organization) => boolean;
export type ReadOrganization = (id: string) => Organization | undefined;

/** Returns false if the id is taken. */
export function createInsertOrganization(database: DatabaseSync): InsertOrganization {
  const insert = database.prepare('INSERT INTO organizations VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING');
  return function insertOrganization({ id, name, tier, state, contacts, operator }) {
    return insert.run(id, name, tier, state, JSON.stringify(contacts), operator ? 1 : 0).changes === 1;
  };
}

export function createReadOrganization(database: DatabaseSync): ReadOrganization {
  const select = database.prepare('SELECT * FROM organizations WHERE id = ?');
  return function readOrganization(id) {
    const row = select.get(id);
    return row === undefined ? undefined : organizationOf(row);
  };
}

export function createSqliteOrganizations(
  database: DatabaseSync,
  insertOrganization: InsertOrganization,
  readOrganization: ReadOrganization,
  writeChange: WriteChange,
): OrganizationRecords {
  const selectAll = database.prepare('SELECT * FROM organizations ORDER BY id');
  const selectPage = database.prepare('SELECT * FROM organizations WHERE id > ? ORDER BY id LIMIT ?');
  const update = database.prepare('UPDATE organizations SET tier = ?, state = ? WHERE id = ?');

  function change(id: string, by: string, next: Partial<Pick<Organization, 'tier' | 'state'>>, kind: ChangeKind) {
    return inTransaction(database, () => {
      const before = readOrganization(id);
      if (before === undefined) return undefined;
      const after = { ...before, ...next };
      if (after.tier === before.tier && after.state === before.state) return before;
      update.run(after.tier, after.state, id);
      const details = after.tier === before.tier ? {} : { from: before.tier, to: after.tier };
      writeChange({ by, kind, organization: id, details });
      return after;
    });
  }

  return {
    create(organization, by) {
      return inTransaction(database, () => {
        if (!insertOrganization(organization)) return false;
        const { id, name, tier, operator } = organization;
        writeChange({ by, kind: 'organization.created', organization: id, details: { name, tier, operator } });
        return true;
      });
    },
    get: readOrganization,
    list({ after, limit } = {}) {
      if (after === undefined && limit === undefined) return selectAll.all().map(organizationOf);
      return selectPage.all(after ?? '', limit ?? -1).map(organizationOf);
    },
    scan: () =>
      inSqlitePages<Organization, string>(
        (after, limit) => selectPage.all(after, limit),
        '',
        ({ id }) => String(id),
        organizationOf,
      ),
    setTier: (id, tier, by) => change(id, by, { tier }, 'organization.tier_changed'),
    suspend: (id, by) => change(id, by, { state: 'suspended' }, 'organization.suspended'),
    resume: (id, by) => change(id, by, { state: 'active' }, 'organization.resumed'),
  };
}

function organizationOf(row: unknown): Organization {
  const { id, name, tier, state, contacts, operator } = row as OrganizationRow;
  return { id, name, tier, state, contacts: JSON.parse(contacts), operator: operator === 1 };
}
