// The limits of organizations, by the contract of a remote gateway. Each action rejects with ServerProblem.

import { isRecord } from '../../shared/is-record.ts';
import type { Actions, ShownLimits } from '../actions.ts';
import type { AdministrationClient } from './client.ts';
import { type AnswerMembers, requireMembers } from './records.ts';
import { orAbsent, scopeOf } from './remote-lists.ts';
import { otherContract } from './server-problem.ts';

export function remoteLimits({ server, ask }: AdministrationClient): Actions['limits'] {
  function limitIn(members: AnswerMembers): ShownLimits['limits'][number] {
    requireMembers(server, members, {
      policy: 'string',
      key_id: 'text or null',
      enforced: 'boolean',
      limit: 'number',
      window_seconds: 'number',
      used: 'number',
      remaining: 'number',
      next_freed_at: 'time or null',
    });
    if (members.operations !== null) requireMembers(server, members, { operations: 'list' });
    return members as unknown as ShownLimits['limits'][number];
  }

  return {
    async show(organization) {
      const asking = ask('GET', `${scopeOf(organization)}/limits`);
      const members = await orAbsent(asking, `There is no organization ${organization}`);
      requireMembers(server, members, { organization_id: 'string', tier: 'string' });
      const { organization_id, tier, data } = members;
      if (!Array.isArray(data) || !data.every(isRecord)) throw otherContract(server, 'data');
      return { organization: organization_id as string, tier: tier as string, limits: data.map(limitIn) };
    },

    async reset(organization) {
      const asking = ask('POST', `${scopeOf(organization)}/limits/reset`);
      const members = await orAbsent(asking, `There is no organization ${organization}`);
      requireMembers(server, members, { organization_id: 'string', counters: 'number' });
      return { organization: members.organization_id as string, counters: members.counters as number };
    },
  };
}
