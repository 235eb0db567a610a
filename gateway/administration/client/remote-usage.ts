// Reads the usage of an organization by the contract of a remote gateway. Rejects with ServerProblem.

import { isoTime } from '../../shared/text.ts';
import type { Actions } from '../actions.ts';
import type { AdministrationClient } from './client.ts';
import { type AnswerMembers, requireMembers } from './records.ts';
import { orAbsent, PAGE_SIZE, scopeOf } from './remote-lists.ts';

export function remoteUsage({ server, pages }: AdministrationClient): Actions['usage'] {
  return {
    /** Reads all pages. The counts are complete until the time that the first page names. */
    async list({ organization, by, fromMs, toMs, groups, operation, key }) {
      const query = {
        by,
        from: isoTime(fromMs),
        to: isoTime(toMs),
        group: groups,
        operation_id: operation,
        key_id: key,
        limit: PAGE_SIZE,
      };
      const data: AnswerMembers[] = [];
      let completeUntil: string | undefined;
      const reading = pages(`${scopeOf(organization)}/usage`, query);
      for (;;) {
        const { value, done } = await orAbsent(reading.next(), `There is no organization ${organization}`);
        if (done) break;
        requireMembers(server, value.body, { complete_until: 'time' });
        for (const sum of value.data) requireMembers(server, sum, { from: 'time', to: 'time', requests: 'number' });
        completeUntil ??= value.body.complete_until as string;
        data.push(...value.data);
      }
      return { data, complete_until: completeUntil as string };
    },
  };
}
