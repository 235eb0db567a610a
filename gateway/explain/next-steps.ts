// Pure: what an operator can do next about a request that was refused or failed: commands to copy, and the runbook about it.

import { runbookOf } from '../shared/failed-requests.ts';
import type { DecisionRecord } from './record.ts';

export interface NextSteps {
  /** Lines for a shell. */
  readonly commands: readonly string[];
  /** A section of docs/operations.md; absent if none is about it. */
  readonly runbook?: string;
}

/** What the key of a caller is refused for. */
const KEY_CODES = /^(api_key|key_mode)_|^insufficient_scope$/;

/** Undefined for a request that was answered, and for one that was only tried out. */
export function nextStepsOf(record: DecisionRecord): NextSteps | undefined {
  if (record.code === undefined || record.rehearsed === true) return undefined;
  const runbook = runbookOf(record);
  return { commands: commandsOf(record), ...(runbook !== undefined && { runbook }) };
}

function commandsOf(record: DecisionRecord): string[] {
  const { code, stage, status, organization, upstream } = record;
  if (stage === 'match') return ['bin/gateway routes'];
  if (stage === 'forward' && upstream !== undefined && Number(status) >= 500)
    return [`bin/gateway upstreams try ${upstream}`];
  if (organization === undefined) return [];
  if (code === 'rate_limited') return [`bin/gateway limits show --org ${organization}`];
  const scopes = missingScopes(record);
  if (scopes.length > 0) return [`bin/gateway keys scopes ${record.key_id} --add ${scopes.join(' ')}`];
  return KEY_CODES.test(String(code)) ? [`bin/gateway keys list --org ${organization}`] : [];
}

/** What a key would have to hold, too; none for a caller without a key, such as a token. */
function missingScopes({ code, key_id: key, required_scopes: required, held_scopes: held }: DecisionRecord): string[] {
  if (code !== 'insufficient_scope' || key === undefined || !Array.isArray(required)) return [];
  return required.filter((scope) => !Array.isArray(held) || !held.includes(scope));
}
