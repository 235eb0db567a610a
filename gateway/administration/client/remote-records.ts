// What a remote gateway knows by its contract, as commands print it: audit log, limits, use, explanations, deprecated uses. Each rejects with
// ServerProblem.

import type { AuditFilter, KeyStoreChange } from '../../auth/store/key-store.ts';
import type { ExchangeReport, StageReport } from '../../explain/report.ts';
import type { LimitUse, ResetReport, UsageReport } from '../../limits/usage.ts';
import type { UsageInput } from '../usage.ts';
import type { AdministrationClient } from './client.ts';
import { type AnswerMembers, changeIn, requireMembers } from './records.ts';
import { orAbsent, PAGE_SIZE, scopeOf } from './remote-lists.ts';
import { foreign, isMembers, otherContract, ServerProblem } from './server-problem.ts';

/** The rule and the store of a limit stay inside the gateway. */
export type RemoteLimits = Omit<UsageReport, 'limits'> & {
  readonly limits: readonly Omit<LimitUse, 'rule' | 'source'>[];
};

export type RemoteExplanation = Omit<ExchangeReport, 'record'> & {
  readonly remedy: string | null;
  readonly doc_url: string | null;
};

export interface RemoteUse {
  readonly organization: string;
  readonly operation: string;
  readonly calls: number | null;
  readonly lastAtMs: number | undefined;
  readonly sunset: string | null;
}

type RemoteUsageInput = Pick<UsageInput, 'by' | 'fromMs' | 'toMs' | 'groups' | 'operation' | 'key'> & {
  /** Undefined: that of the key that acts. */
  readonly organization: string | undefined;
};

export function remoteRecords({ server, ask, pages }: AdministrationClient) {
  const isoTime = (atMs: number | undefined) => (atMs === undefined ? undefined : new Date(atMs).toISOString());

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
    /** Newest first: for operators the audit log, for another key what concerns its organization. */
    async audit(filter: AuditFilter): Promise<readonly KeyStoreChange[]> {
      const { organization: organization_id, sinceMs } = filter;
      try {
        return await changesFrom('/audit', { organization_id, from: isoTime(sinceMs) }, filter);
      } catch (error) {
        const lacksScope = error instanceof ServerProblem && error.answered.code === 'insufficient_scope';
        if (!lacksScope || organization_id !== undefined) throw error;
        return changesFrom('/events', {}, filter);
      }
    },

    async limits(organization: string | undefined): Promise<RemoteLimits> {
      const asking = ask('GET', `${scopeOf(organization)}/limits`);
      const members = await orAbsent(asking, `There is no organization ${organization}`);
      requireMembers(server, members, { organization_id: 'string', tier: 'string' });
      const { organization_id, tier, data } = members;
      if (!Array.isArray(data) || !data.every(isMembers)) throw otherContract(server, 'data');
      return { organization: organization_id as string, tier: tier as string, limits: data.map(limitIn) };
    },

    async resetLimits(organization: string): Promise<ResetReport> {
      const asking = ask('POST', `${scopeOf(organization)}/limits/reset`);
      const members = await orAbsent(asking, `There is no organization ${organization}`);
      requireMembers(server, members, { organization_id: 'string', counters: 'number' });
      return { organization: members.organization_id as string, counters: members.counters as number };
    },

    /** All pages; the time until which they are complete is that of the first. */
    async usage({ organization, by, fromMs, toMs, groups, operation, key }: RemoteUsageInput) {
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

    async explain(id: string): Promise<RemoteExplanation> {
      const asking = ask('GET', `/requests/${encodeURIComponent(id)}`);
      const members = await orAbsent(
        asking,
        `${server} does not remember a request ${id} of the organization of your key`,
      );
      const { request, verdict, stages, remedy, doc_url } = members;
      if (!isMembers(request)) throw otherContract(server, 'request');
      requireMembers(server, members, { verdict: 'string', remedy: 'text or null', doc_url: 'text or null' });
      requireMembers(server, request, { request_id: 'string', at: 'time' });
      if (!Array.isArray(stages) || !stages.every(isMembers)) throw otherContract(server, 'stages');
      return {
        request_id: request.request_id,
        time: request.at as string,
        verdict: verdict as string,
        stages: stages.map((stage) => stageIn(stage)),
        remedy: remedy as string | null,
        doc_url: doc_url as string | null,
      };
    },

    async deprecatedUses(): Promise<readonly RemoteUse[]> {
      const uses: RemoteUse[] = [];
      for await (const { data } of pages('/deprecated-uses', { limit: PAGE_SIZE }))
        for (const members of data) uses.push(useIn(members));
      return uses;
    },
  };

  function limitIn(members: AnswerMembers): Omit<LimitUse, 'rule' | 'source'> {
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
    return members as unknown as LimitUse;
  }

  function stageIn(members: AnswerMembers): StageReport {
    requireMembers(server, members, { stage: 'string', outcome: 'string', facts: 'list' });
    const { stage, outcome, facts, duration_ms } = members as AnswerMembers & { readonly facts: readonly string[] };
    return {
      stage: foreign(stage) as StageReport['stage'],
      outcome: foreign(outcome) as StageReport['outcome'],
      told: facts,
      ...(typeof duration_ms === 'number' && { duration_ms }),
    };
  }

  function useIn(members: AnswerMembers): RemoteUse {
    requireMembers(server, members, {
      organization_id: 'string',
      operation_id: 'string',
      last_used_at: 'time or null',
      sunset_at: 'time or null',
    });
    const { organization_id, operation_id, requests, last_used_at, sunset_at } = members;
    return {
      organization: organization_id as string,
      operation: operation_id as string,
      calls: typeof requests === 'number' ? requests : null,
      lastAtMs: typeof last_used_at === 'string' ? Date.parse(last_used_at) : undefined,
      sunset: sunset_at as string | null,
    };
  }
}
