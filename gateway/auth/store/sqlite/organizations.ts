// Organizations in the embedded key store.

import type { Organization } from '../../../exchange/caller.ts';
import { inTransaction } from '../../../shared/stores/sqlite.ts';
import { authorNameOf, changeKindOf, detailsBy, ofChangedOrganization, ofNewOrganization } from '../change-details.ts';
import type { Author, ChangeKind, Conditions, OrganizationRecords } from '../key-store.ts';
import { organizationOf } from './rows.ts';
import { inSqlitePages, requireUnchanged, type SqliteTables } from './tables.ts';

export function createSqliteOrganizations(tables: SqliteTables): OrganizationRecords {
  const { database, organizations, writeChange } = tables;
  const select = database.prepare('SELECT * FROM organizations WHERE id > ? ORDER BY id LIMIT ?');
  const update = database.prepare('UPDATE organizations SET tier = ?, state = ?, contacts = ? WHERE id = ?');

  function change(
    id: string,
    patch: Partial<Organization>,
    kind: ChangeKind,
    author: Author,
    conditions: Conditions = {},
  ): Organization | undefined {
    return inTransaction(database, () => {
      requireUnchanged(tables, conditions);
      const before = organizations.read(id);
      if (before === undefined) return undefined;
      const after = { ...before, ...patch };
      const details = ofChangedOrganization(before, after);
      if (details === undefined) return before;
      update.run(after.tier, after.state, JSON.stringify(after.contacts), id);
      writeChange({ by: authorNameOf(author), kind, organization: id, details: detailsBy(author, details) });
      return after;
    });
  }

  const inOrder = (after = '') =>
    inSqlitePages<Organization, string>(
      (position, limit) => select.all(position, limit),
      after,
      ({ id }) => String(id),
      organizationOf,
    );

  return {
    create(organization, author, conditions = {}) {
      return inTransaction(database, () => {
        requireUnchanged(tables, conditions);
        if (!organizations.insert(organization)) return false;
        const details = detailsBy(author, ofNewOrganization(organization));
        const { id } = organization;
        writeChange({ by: authorNameOf(author), kind: 'organization.created', organization: id, details });
        return true;
      });
    },
    get: organizations.read,
    list: ({ after = '', limit = -1 } = {}) => select.all(after, limit).map(organizationOf),
    scan: () => inOrder(),
    inOrder,
    change: (id, patch, author, conditions) => change(id, patch, changeKindOf(patch), author, conditions),
    suspend: (id, author, conditions) =>
      change(id, { state: 'suspended' }, 'organization.suspended', author, conditions),
    resume: (id, author, conditions) => change(id, { state: 'active' }, 'organization.resumed', author, conditions),
  };
}
