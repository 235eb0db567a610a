// Explains a request by the contract of a remote gateway. Rejects with ServerProblem.

import type { StageReport } from '../../explain/report.ts';
import { isRecord } from '../../shared/is-record.ts';
import type { Actions, ExplainedRequest } from '../actions.ts';
import type { AdministrationClient } from './client.ts';
import { type AnswerMembers, requireMembers } from './records.ts';
import { orAbsent } from './remote-lists.ts';
import { foreign, otherContract } from './server-problem.ts';

export function remoteRequests({ server, ask }: AdministrationClient): Actions['requests'] {
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

  return {
    async explain(id) {
      const asking = ask('GET', `/requests/${encodeURIComponent(id)}`);
      const members = await orAbsent(
        asking,
        `${server} does not remember a request ${id} of the organization of your key`,
      );
      const { request, verdict, stages, remedy, doc_url } = members;
      if (!isRecord(request)) throw otherContract(server, 'request');
      requireMembers(server, members, { verdict: 'string', remedy: 'text or null', doc_url: 'text or null' });
      requireMembers(server, request, { request_id: 'string', at: 'time' });
      if (!Array.isArray(stages) || !stages.every(isRecord)) throw otherContract(server, 'stages');
      const explanation: ExplainedRequest = {
        request_id: request.request_id,
        time: request.at as string,
        verdict: verdict as string,
        stages: stages.map((stage) => stageIn(stage)),
        remedy: remedy as string | null,
        doc_url: doc_url as string | null,
      };
      return [explanation];
    },
  };
}
