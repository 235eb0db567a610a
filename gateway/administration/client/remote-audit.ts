// Reads the audit log of a remote gateway. Rejects with ServerProblem.

import type { AuditFilter, KeyStoreChange } from '../../auth/store/key-store.ts';
import { isoTime } from '../../shared/text.ts';
import type { Actions } from '../actions.ts';
import type { AdministrationClient } from './client.ts';
import { changeIn } from './records.ts';
import { PAGE_SIZE } from './remote-lists.ts';
import { ServerProblem } from './server-problem.ts';

export function remoteAudit({ server, pages }: AdministrationClient): Actions['audit'] {
  async function changesFrom(path: string, query: Readonly<Record<string, string | undefined>>, filter: AuditFilter) {
    const { sinceMs = Number.NEGATIVE_INFINITY, limit } = filter;
    const changes: KeyStoreChange[] = [];
    for await (const { data } of pages(path, { ...query, limit: Math.min(limit, PAGE_SIZE) })) {
      const page = data.map((members) => changeIn(server, members));
      changes.push(...page.filter(({ atMs }) => atMs >= sinceMs));
      // Newest first.
      const isOver = changes.length >= limit || page.some(({ atMs }) => atMs < sinceMs);
      if (isOver) break;
    }
    return changes.slice(0, limit);
  }

  return {
    /** Returns changes, newest first. Operators get the audit log; other keys get the events of their organization. */
    async list(filter: AuditFilter): Promise<readonly KeyStoreChange[]> {
      const { organization: organization_id, sinceMs } = filter;
      try {
        return await changesFrom('/audit', { organization_id, from: isoTime(sinceMs) }, filter);
      } catch (error) {
        const lacksScope = error instanceof ServerProblem && error.answered.code === 'insufficient_scope';
        if (!lacksScope || organization_id !== undefined) throw error;
        return changesFrom('/events', {}, filter);
      }
    },
  };
}
