// Suggests the next steps after a refused or failed request: a hint for the client, commands to copy, and a runbook. Pure.

import { type CatalogueEntry, hintSentence } from '../catalogue/catalogue-entry.ts';
import { REFUSALS } from '../catalogue/errors.ts';
import { violationRemedy } from '../shared/contracts/violation-text.ts';
import { hadNoSecret, lacksSecret, runbookOf, wasRefused } from '../shared/failed-requests.ts';
import { nextCommandOf } from '../shared/next-command.ts';
import type { LogLine } from './log-line.ts';
import { type PresentCause, presentCauseOf } from './present-cause.ts';

export interface NextSteps {
  /** The current cause that explains the outcome; undefined if none does. */
  readonly cause?: string;
  /** Commands for a shell. */
  readonly commands: readonly string[];
  /** The change that the client has to make, in one or two sentences; undefined if the client is not to blame. */
  readonly client?: string;
  /** The section of docs/operations.md on this kind of failure; undefined if there is none. */
  readonly runbook?: string;
}

/** Codes of refusals because of the key, or because of its scopes or mode. */
const KEY_CODES = /^(api_key|key_mode)_|^insufficient_scope$/;

/**
 * Returns the next steps; undefined for a rehearsal, and for a request that was answered, unless it was slow because of a cause.
 *
 * @param causes the current causes of the gateway
 */
export function nextStepsOf(line: LogLine, causes: readonly PresentCause[]): NextSteps | undefined {
  if (line.rehearsed === true) return undefined;
  const cause = presentCauseOf(line, causes);
  if (line.code === undefined && cause === undefined) return undefined;
  const runbook = runbookOf(line) ?? cause?.runbook ?? undefined;
  // While the gateway or a service fails, a change of the request does not help.
  const client = cause?.severity === 'failure' ? undefined : clientOf(line);
  const commands = [...(cause?.next ? [cause.next] : []), ...commandsOf(line)];
  return {
    ...(cause && { cause: cause.cause }),
    commands: [...new Set(commands)],
    ...(client !== undefined && { client }),
    ...(runbook !== undefined && { runbook }),
  };
}

/**
 * Returns the sentences for the client: the hint of its error object, and the remedy from the page of the code; undefined if no change of
 * the request helps.
 */
function clientOf(line: LogLine): string | undefined {
  const code = String(line.code);
  // A client cannot change anything about the other refusals for rates and load.
  const isPassing = Number(line.status) >= 429 && code !== 'auth_attempts_limited';
  if (!wasRefused(line) || isPassing || !Object.hasOwn(REFUSALS, code)) return undefined;
  const entry: CatalogueEntry = REFUSALS[code as keyof typeof REFUSALS];
  const only = violationRemedy(line);
  if (only !== undefined) return only;
  const hint = hintSentence(entry, String(line.hint));
  // The links to the documentation are removed, because a terminal does not show them.
  return [hint, entry.remedy.replace(/ See \[[^\]]*\]\([^)]*\)\./, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')]
    .filter(Boolean)
    .join(' ');
}

/** Returns commands. The first command is the same as in lists of causes, for the same fault. */
function commandsOf(line: LogLine): string[] {
  const { code, stage, status, organization, upstream } = line;
  if (stage === 'match') return ['bin/gateway routes'];
  if (stage === 'forward' && upstream !== undefined && Number(status) >= 500)
    return [causeCommandOf(line), ...retryCommands(line)];
  if (organization === undefined) return [];
  if (code === 'rate_limited') return [`bin/gateway limits show --org ${organization}`];
  // No key of this organization can get these scopes.
  if (code === 'insufficient_scope' && line.hint === 'operators') return [];
  const scopes = missingScopes(line);
  if (scopes.length > 0) return [`bin/gateway keys scopes ${line.key_id} --add ${scopes.join(' ')}`];
  return KEY_CODES.test(String(code)) ? [`bin/gateway keys list --org ${organization}`] : [];
}

function causeCommandOf(line: LogLine): string {
  const runbook = lacksSecret(line) ? runbookOf(line) : undefined;
  return nextCommandOf({ id: `upstream ${line.upstream} ${line.mode ?? ''}`, runbook }) as string;
}

/** Returns the command that lifts a suspension after a correction at the service. The gateway itself notices a new secret. */
function retryCommands(line: LogLine): string[] {
  const { code, upstream } = line;
  if (code !== 'upstream_auth_failed' || hadNoSecret(line)) return [];
  return [`bin/gateway upstreams retry ${upstream} # once the account at the service is corrected`];
}

/** Returns the scopes that the key lacks; empty for a caller without a key, such as a caller with a token. */
function missingScopes({ code, key_id: key, required_scopes: required, held_scopes: held }: LogLine): string[] {
  if (code !== 'insufficient_scope' || key === undefined || !Array.isArray(required)) return [];
  return required.filter((scope) => !Array.isArray(held) || !held.includes(scope));
}
