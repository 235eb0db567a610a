// The actions on organizations, by the contract of a remote gateway. Each action rejects with ServerProblem.

import type { Organization } from '../../exchange/caller.ts';
import type { Actions } from '../actions.ts';
import type { AdministrationClient } from './client.ts';
import { madeBy } from './in-force.ts';
import { organizationIn } from './records.ts';
import { orAbsent, PAGE_SIZE, waitSecondsOf } from './remote-lists.ts';

export function remoteOrganizations({ server, ask, pages }: AdministrationClient): Actions['organizations'] {
  return {
    async create({ id, name, tier, contacts }) {
      const body = { id, name, tier, ...(contacts.length > 0 && { contacts }) };
      const sentence = `The organization ${id} exists already`;
      return organizationIn(
        server,
        await orAbsent(ask('POST', '/organizations', { body }), sentence, 'already_exists'),
      );
    },

    async *list(after): AsyncGenerator<readonly Organization[]> {
      for await (const { data } of pages('/organizations', { limit: PAGE_SIZE })) {
        const page = data.map((members) => organizationIn(server, members));
        yield after === undefined ? page : page.filter(({ id }) => id > after);
      }
    },

    async change(id, change, waitMs) {
      const path = `/organizations/${encodeURIComponent(id)}`;
      const query = { wait: waitSecondsOf(waitMs) };
      const changing =
        typeof change === 'string'
          ? ask('POST', `${path}/${change}`, { query })
          : ask('PATCH', path, { query, body: change });
      const members = await orAbsent(changing, `There is no organization ${id}`);
      return madeBy(server, members, organizationIn(server, members));
    },
  };
}
