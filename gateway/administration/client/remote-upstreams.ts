// The action on upstreams, by the contract of a remote gateway. Rejects with ServerProblem.

import type { Actions } from '../actions.ts';
import type { AdministrationClient } from './client.ts';
import { requireMembers } from './records.ts';
import { orAbsent } from './remote-lists.ts';

export function remoteUpstreams({ server, ask }: AdministrationClient): Actions['upstreams'] {
  return {
    async retry(name) {
      const asking = ask('POST', `/upstreams/${encodeURIComponent(name)}/retry`);
      const members = await orAbsent(asking, `There is no upstream ${name}`);
      requireMembers(server, members, { retried: 'boolean' });
      return members.retried as boolean;
    },
  };
}
