// Pure: what an operator can do next about a request that was refused or failed: commands to copy, and the runbook about it.

import type { CatalogueEntry } from '../catalogue/catalogue-entry.ts';
import { REFUSALS } from '../catalogue/errors.ts';
import { onlyViolation } from '../shared/contracts/violation-text.ts';
import { hadNoSecret, lacksSecret, runbookOf, wasRefused } from '../shared/failed-requests.ts';
import { nextCommandOf } from '../shared/next-command.ts';
import type { LogLine } from './log-line.ts';

export interface NextSteps {
  /** Lines for a shell. */
  readonly commands: readonly string[];
  /** What the client has to change, in one or two sentences; absent where the client is not to blame. */
  readonly client?: string;
  /** A section of docs/operations.md; absent if none is about it. */
  readonly runbook?: string;
}

/** What the key of a caller is refused for. */
const KEY_CODES = /^(api_key|key_mode)_|^insufficient_scope$/;

/** Undefined for a request that was answered, and for one that was only tried out. */
export function nextStepsOf(line: LogLine): NextSteps | undefined {
  if (line.code === undefined || line.rehearsed === true) return undefined;
  const runbook = runbookOf(line);
  const client = clientOf(line);
  return {
    commands: commandsOf(line),
    ...(client !== undefined && { client }),
    ...(runbook !== undefined && { runbook }),
  };
}

/**
 * Returns what the client has to do: the remedy that the page of the code shows, after the hint of this refusal, which its answer has. Returns
 * undefined if a change of the request does not help.
 */
function clientOf(line: LogLine): string | undefined {
  const code = String(line.code);
  if (!wasRefused(line) || Number(line.status) >= 429 || !Object.hasOwn(REFUSALS, code)) return undefined;
  const { remedy, hints }: CatalogueEntry = REFUSALS[code as keyof typeof REFUSALS];
  const only = code === 'validation_failed' ? onlyViolation(line.violations) : undefined;
  if (only !== undefined) return `Correct \`${only.where}\`: it ${only.reason}.`;
  const hint = hints?.[String(line.hint)];
  // The links lead to pages of the documentation, which a terminal does not show.
  return [hint, remedy.replace(/ See \[[^\]]*\]\([^)]*\)\./, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')]
    .filter(Boolean)
    .join(' ');
}

/** The first is the one that the lists of causes name for the same fault. */
function commandsOf(line: LogLine): string[] {
  const { code, stage, status, organization, upstream } = line;
  if (stage === 'match') return ['bin/gateway routes'];
  if (stage === 'forward' && upstream !== undefined && Number(status) >= 500)
    return [causeCommandOf(line), ...afterTrial(line)];
  if (organization === undefined) return [];
  if (code === 'rate_limited') return [`bin/gateway limits show --org ${organization}`];
  const scopes = missingScopes(line);
  if (scopes.length > 0) return [`bin/gateway keys scopes ${line.key_id} --add ${scopes.join(' ')}`];
  return KEY_CODES.test(String(code)) ? [`bin/gateway keys list --org ${organization}`] : [];
}

function causeCommandOf(line: LogLine): string {
  const runbook = lacksSecret(line) ? runbookOf(line) : undefined;
  return nextCommandOf({ id: `upstream ${line.upstream}`, runbook }) as string;
}

/** A secret that was corrected here is sent again by itself. */
function afterTrial(line: LogLine): string[] {
  const { code, upstream } = line;
  if (code !== 'upstream_auth_failed' || hadNoSecret(line)) return [];
  return [`bin/gateway upstreams retry ${upstream} # once the account at the service is corrected`];
}

/** What a key would have to hold, too; none for a caller without a key, such as a token. */
function missingScopes({ code, key_id: key, required_scopes: required, held_scopes: held }: LogLine): string[] {
  if (code !== 'insufficient_scope' || key === undefined || !Array.isArray(required)) return [];
  return required.filter((scope) => !Array.isArray(held) || !held.includes(scope));
}
