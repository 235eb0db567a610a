// The actions on organizations, by the contract of a remote gateway. Each rejects with ServerProblem.

import type { Organization } from '../../caller.ts';
import type { AdministrationClient } from './client.ts';
import { type InForceCounts, inForceIn, organizationIn } from './records.ts';
import { orAbsent, PAGE_SIZE } from './remote-lists.ts';

export interface ChangedOrganization {
  readonly organization: Organization;
  readonly inForce: InForceCounts | undefined;
}

/** What is done to an organization, as the last part of the path; or the tier that it gets. */
export type OrganizationChange = 'suspend' | 'resume' | { readonly tier: string };

export function remoteOrganizations({ server, ask, pages }: AdministrationClient) {
  return {
    async create({ id, name, tier, contacts }: Omit<Organization, 'state'>): Promise<Organization> {
      const body = { id, name, tier, ...(contacts.length > 0 && { contacts }) };
      const sentence = `The organization ${id} exists already`;
      return organizationIn(
        server,
        await orAbsent(ask('POST', '/organizations', { body }), sentence, 'already_exists'),
      );
    },

    /** By id; from the one behind `after` on. */
    async *list(after: string | undefined): AsyncGenerator<readonly Organization[]> {
      for await (const { data } of pages('/organizations', { limit: PAGE_SIZE })) {
        const page = data.map((members) => organizationIn(server, members));
        yield after === undefined ? page : page.filter(({ id }) => id > after);
      }
    },

    async change(
      id: string,
      change: OrganizationChange,
      waitSeconds: number | undefined,
    ): Promise<ChangedOrganization> {
      const path = `/organizations/${encodeURIComponent(id)}`;
      const query = { wait: waitSeconds };
      const changing =
        typeof change === 'string'
          ? ask('POST', `${path}/${change}`, { query })
          : ask('PATCH', path, { query, body: change });
      const members = await orAbsent(changing, `There is no organization ${id}`);
      return { organization: organizationIn(server, members), inForce: inForceIn(server, members) };
    },
  };
}
