// Compares the status, media type and body of answers with the contract.

import type { UpstreamEntry } from '../../config/upstreams/upstreams-file.ts';
import { createAnswerCheck } from '../../contract/answer.ts';
import { essenceOf } from '../../contract/media-types.ts';
import type { ContractOperation } from '../../contract/operations/operations.ts';
import { responseFor, type Schemas } from '../../contract/schemas/schemas.ts';
import { HTML } from '../../contract/undeclared.ts';
import type { AnswerCheck, UndeclaredAnswer } from '../../exchange/answer-check.ts';
import type { Operation } from '../../exchange/operation.ts';
import { firstNames } from '../../shared/text.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import { type BackendAnswer, statusOf } from './backend.ts';
import { type ExerciseResult, isReading, isRefused } from './exercise.ts';
import { loginFindings } from './login-findings.ts';
import { isLikeUnknownPath } from './unknown-path.ts';

const SHOWN_MAX = 3;
const NAMED_MAX = 3;
/** Statuses that the gateway translates for clients, whether the contract declares them or not. */
const UNDERSTOOD_STATUSES = new Set([400, 403, 404, 409, 410, 412, 413, 415, 422, 429]);

/** Returns findings on differences between contract and service. @param elsewhere the answer to an unknown path; undefined if not tried */
export function driftOf(
  { answers: all, untried }: ExerciseResult,
  settings: UpstreamEntry,
  entries: readonly ContractOperation[],
  schemas: Schemas,
  now: () => number,
  elsewhere: BackendAnswer | undefined,
): Finding[] {
  const check = createAnswerCheck(entries, schemas, now);
  const isMissing = (one: BackendAnswer) => elsewhere !== undefined && isLikeUnknownPath(one, elsewhere);
  const { missing = [], answers = [] } = Object.groupBy(all, (one) => (isMissing(one) ? 'missing' : 'answers'));
  const found = new Map<string, Finding>();
  const note = (finding: Finding) => found.set(`${finding.check} ${finding.says}`, finding);
  for (const { asked } of missing) note(missingFinding(asked.entry.operation));
  for (const answered of answers) for (const finding of faultsOf(answered, check)) note(finding);
  for (const finding of loginFindings(answers.filter(isRefused), settings, entries)) note(finding);
  const byOperation = Map.groupBy(answers, ({ asked }) => asked.entry.operation.id);
  if (found.size === 0 && answers.length > 0)
    note(ok('contract', `${answers.length} answers of ${byOperation.size} operations are as the contract says.`));
  for (const [id, all] of byOperation) {
    const statuses = [...new Set(all.map(statusOf))];
    // Other values do not help against a refusal of the login.
    if (statuses.some((status) => status < 400) || all.some(isRefused)) continue;
    const says = `${id} was only refused (${statuses.join(', ')}), so what it answers otherwise was not seen.`;
    note(warn('contract', says, "Put values that the service takes into the contract's examples."));
  }
  for (const [why, some] of Map.groupBy(untried, (one) => one.why))
    note(
      untriedFinding(
        some.map(({ entry }) => entry.operation.id),
        why,
      ),
    );
  return [...found.values()];
}

/** Returns one finding for all operations that were left out for the same reason, such as those that write. */
function untriedFinding(ids: readonly string[], why: string): Finding {
  const remedy = ids.length === 1 ? 'Try it by hand.' : 'Try them by hand.';
  return warn(
    'contract',
    `${firstNames(ids, NAMED_MAX)} ${ids.length === 1 ? 'was' : 'were'} not tried: ${why}.`,
    remedy,
  );
}

function faultsOf(answered: BackendAnswer, check: AnswerCheck): Finding[] {
  const { asked, status, headers, problem, judgement } = answered;
  const { operation } = asked.entry;
  const drift = (says: string, remedy = 'Correct the service, or its contract.') =>
    fail('contract', `${operation.id}: ${says}`, remedy);
  if (problem !== undefined) return [drift(`no answer (${problem}).`, 'See why the service does not answer.')];
  // One finding may be about all refused operations.
  if (isRefused(answered)) return [];
  if (statusOf(answered) >= 400) return refusalOf(answered);
  const contentType = headers['content-type'];
  const type = Array.isArray(contentType) ? contentType[0] : contentType;
  const hasBody = status !== 204 && answered.body.length > 0;
  const reaction = check.reactionTo(operation, { status, hasBody, dropsBody: true }, type);
  if (typeof reaction === 'object') return [undeclaredFinding(operation.id, reaction, essenceOf(type) === HTML)];
  const body = judgement?.kind === 'pass' ? judgement.body : answered.body;
  const violations = body.length === 0 ? [] : check.violations(operation, status, body, type);
  return violations.slice(0, SHOWN_MAX).map((violation) => drift(`${status} with a wrong body: ${violation}.`));
}

function missingFinding({ id, method, path }: Operation): Finding {
  const says = `${id}: the service has no ${method} ${path}. It answers 404 as to an unknown path.`;
  return warn(
    'contract',
    says,
    'Take the operation out of the contract, or correct its path or the basePath of the entry.',
  );
}

/** Returns the finding about an answer that the contract does not declare. The gateway passes it on, unless the operation refuses it. */
function undeclaredFinding(id: string, { reaction, text }: UndeclaredAnswer, isPage: boolean): Finding {
  const says = `${id}: it answers with ${text}.`;
  if (reaction === 'refuse') return fail('contract', says, 'Clients get 502. Declare it, or correct the service.');
  const remedy = isPage ? 'Ask its owners why it answers with a page' : 'Declare it, so that they can rely on it';
  return warn('contract', says, `Clients get it as it is. ${remedy}.`);
}

/** Returns findings about a valid request that was refused. */
function refusalOf(answered: BackendAnswer): Finding[] {
  const { asked, status: own } = answered;
  const { operation } = asked.entry;
  const status = statusOf(answered);
  if (status === 404 && operation.path.includes('{')) return [];
  // A valid write can still conflict with the current state of the records.
  if (!isReading(operation.method) && [404, 409, 422].includes(status)) return [];
  const what = `${operation.id}: it answers ${own} to a request that is as the contract says`;
  if (status >= 500) return [fail('contract', `${what}.`, 'Correct the service: it fails.')];
  if (!UNDERSTOOD_STATUSES.has(status)) {
    const isDeclared = responseFor(asked.entry, own).value !== undefined;
    if (!isDeclared)
      return [fail('contract', `${what}, and no contract declares it.`, 'Declare it, or answer otherwise.')];
  }
  const remedy = 'Say in the contract what it does not take, so that the gateway refuses it with a reason.';
  return [warn('contract', `${what} (${shownSearch(asked.search)}).`, remedy)];
}

function shownSearch(search: string): string {
  return search === '' ? 'without query' : search.length > 80 ? `${search.slice(0, 77)}…` : search;
}
