// Organizations in the embedded key store.

import type { Organization } from '../../../caller.ts';
import { inTransaction } from '../../../shared/sqlite.ts';
import type { ChangeKind, OrganizationRecords } from '../key-store.ts';
import { inSqlitePages } from './pages.ts';
import { organizationOf } from './rows.ts';
import type { SqliteTables } from './tables.ts';

export function createSqliteOrganizations({ database, organizations, writeChange }: SqliteTables): OrganizationRecords {
  const select = database.prepare('SELECT * FROM organizations WHERE id > ? ORDER BY id LIMIT ?');
  const update = database.prepare('UPDATE organizations SET tier = ?, state = ? WHERE id = ?');

  function change(id: string, by: string, next: Partial<Pick<Organization, 'tier' | 'state'>>, kind: ChangeKind) {
    return inTransaction(database, () => {
      const before = organizations.read(id);
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
        if (!organizations.insert(organization)) return false;
        const { id, name, tier, operator } = organization;
        writeChange({ by, kind: 'organization.created', organization: id, details: { name, tier, operator } });
        return true;
      });
    },
    get: organizations.read,
    list: ({ after = '', limit = -1 } = {}) => select.all(after, limit).map(organizationOf),
    scan: () =>
      inSqlitePages<Organization, string>(
        (after, limit) => select.all(after, limit),
        '',
        ({ id }) => String(id),
        organizationOf,
      ),
    setTier: (id, tier, by) => change(id, by, { tier }, 'organization.tier_changed'),
    suspend: (id, by) => change(id, by, { state: 'suspended' }, 'organization.suspended'),
    resume: (id, by) => change(id, by, { state: 'active' }, 'organization.resumed'),
  };
}
