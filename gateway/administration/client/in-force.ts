// Reads from the answer of a remote gateway how many running gateways have put a change in force.

import { isRecord } from '../../shared/is-record.ts';
import type { MadeChange } from '../actions.ts';
import { type AnswerMembers, requireMembers } from './records.ts';
import { otherContract } from './server-problem.ts';

/** Throws ServerProblem. @param members the answer to a change, which contains `in_force` if it was asked to wait */
export function madeBy<Result>(server: string, members: AnswerMembers, result: Result): MadeChange<Result> {
  const { in_force: counts } = members;
  if (counts === undefined) return { result, inForce: undefined };
  if (!isRecord(counts)) throw otherContract(server, 'in_force');
  requireMembers(server, counts, { confirmed: 'number', unconfirmed: 'number', waited_ms: 'number' });
  const { confirmed, unconfirmed, waited_ms: waitedMs } = counts as unknown as Counts;
  const json = { in_force: { confirmed, unconfirmed, waited_ms: waitedMs } };
  return { result, inForce: async () => ({ confirmed, unconfirmed, waitedMs, missing: [], json }) };
}

interface Counts {
  readonly confirmed: number;
  readonly unconfirmed: number;
  readonly waited_ms: number;
}
