// Finds the error codes of an operation: codes that its contract names, and codes of the gateway that follow from its credentials,
// parameters and body.

import type { CatalogueEntry, CodeNeed } from '../../catalogue/catalogue-entry.ts';
import { type ErrorCode, REFUSALS } from '../../catalogue/errors.ts';
import { violationsMessage } from '../../shared/contracts/violation-text.ts';
import { isRecord } from '../../shared/is-record.ts';
import { needOf } from '../listed-codes.ts';
import type { MediaView } from './body-view.ts';
import type { AnswerView, OperationView } from './operation-view.ts';
import { type DocumentObject, listOf, type ReferredOperation, textAt } from './reference.ts';

export interface CodesOfStatus {
  readonly status: number;
  readonly codes: readonly ErrorCode[];
}

/** Returns the codes of an operation, by status. Codes of a service are left out, because they have no page. */
export function errorCodesOf(
  operation: ReferredOperation,
  view: OperationView,
  listed: readonly ErrorCode[],
): CodesOfStatus[] {
  const found = new Set<string>([...codesOfGateway(operation, view), ...codesOfContract(operation, view)]);
  const known = listed.filter((code) => found.has(code) && !lacks(operation, needOf(code)));
  return [...Map.groupBy(known, (code) => REFUSALS[code].status)]
    .map(([status, codes]) => ({ status, codes }))
    .sort((one, other) => one.status - other.status);
}

/** Whether the operation does not meet the need of a code, which other operations may meet. */
function lacks({ security, idempotency, hasTestMode }: ReferredOperation, need: CodeNeed | undefined): boolean {
  const takes = (scheme: string) => security.some((one) => one.scheme === scheme);
  if (need === 'callers') return security.length === 0;
  if (need === 'tokens') return !takes('apiKey');
  if (need === 'basic') return !takes('basic');
  if (need === 'live only') return hasTestMode || !takes('apiKey');
  if (need === 'repeats') return idempotency === 'off';
  return need === 'required repeats' && idempotency !== 'required';
}

function codesOfGateway({ security, path }: ReferredOperation, { parameters, body }: OperationView): ErrorCode[] {
  const takesJson = body?.media.some(({ type }) => /json/i.test(type)) === true;
  // The gateway itself answers the operations of its own contract.
  const hasService = !path.startsWith('/gateway/v1/');
  const takesForms = body?.media.some(({ type }) => /form/i.test(type)) === true;
  const hasScopes = security.some(({ scopes }) => scopes.length > 0);
  const takesKeys = security.some(({ scheme }) => scheme === 'apiKey');
  const groups: readonly (readonly [applies: boolean, codes: readonly ErrorCode[]])[] = [
    [parameters.length > 0 || body !== undefined, ['validation_failed']],
    [body?.isRequired === true, ['body_missing']],
    [takesJson, ['malformed_json', 'duplicate_json_member', 'json_too_complex']],
    [takesForms, ['malformed_form']],
    [body !== undefined, ['body_too_large', 'unsupported_media_type']],
    [security.length > 0, ['rate_limited', 'auth_attempts_limited', 'account_inactive', 'auth_unavailable']],
    [takesKeys, ['api_key_malformed', 'api_key_invalid', 'api_key_revoked', 'api_key_expired', 'ip_not_allowed']],
    [hasScopes, ['insufficient_scope']],
    // Codes whose need the operation does not meet are left out.
    [true, ['api_key_missing', 'key_mode_mismatch', 'basic_credentials_invalid']],
    [
      true,
      ['idempotency_key_missing', 'idempotency_key_malformed', 'idempotency_key_in_use', 'idempotency_key_reused'],
    ],
    [true, ['idempotency_outcome_unknown', 'idempotency_result_not_retained']],
    [hasService, ['upstream_unavailable', 'upstream_unreachable', 'upstream_timeout', 'upstream_bad_response']],
    [hasService, ['upstream_overloaded']],
    [true, ['gateway_overloaded']],
  ];
  return groups.flatMap(([applies, codes]) => (applies ? codes : []));
}

/** Returns the codes in examples of refusals and in descriptions. */
function codesOfContract(operation: ReferredOperation, { parameters, answers, body }: OperationView): string[] {
  const refusals = answers.filter(({ status }) => /^([45]|default)/i.test(status));
  const shown = refusals.flatMap(({ media }) => media.flatMap(({ examples }) => examples.map(({ value }) => value)));
  const texts = [operation.description, ...[...parameters, ...answers].map(({ description }) => description)];
  const named = texts.flatMap((text) => [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, code = '']) => code));
  const sendsRecords = body === undefined || body.media.some(({ type }) => /json|form/i.test(type));
  const applies = (code: string) => mayApply(code, operation) && (sendsRecords || !OF_RECORDS.has(code));
  return [...named, ...shown.map(codeIn).filter(applies)];
}

function codeIn(value: unknown): string {
  return isRecord(value) ? textAt(value.error, 'code') : '';
}

/** Codes about records, with which a file cannot be refused. */
const OF_RECORDS = new Set(['reference_missing', 'invalid_transition']);

/** Whether a code may apply to an operation. Operations share lists of examples, and some codes apply only to writes or records. */
function mayApply(code: string, { method, path }: ReferredOperation): boolean {
  const refusal: CatalogueEntry | undefined = Object.hasOwn(REFUSALS, code) ? REFUSALS[code as ErrorCode] : undefined;
  const reads = /^(GET|HEAD)$/.test(method);
  if (code === 'resource_missing' || code === 'invalid_transition')
    return path.includes('{') && (!reads || code === 'resource_missing');
  return !reads || (refusal?.type !== 'conflict_error' && code !== 'reference_missing');
}

/** One line of Markdown. */
export const ABOUT_ERRORS = 'Every error is [one object](/docs/guides/errors). These are [all codes](/docs/errors).';

const FORM = /^https?:\/\/[^/]+(\/docs\/errors\/[a-z0-9_]+)$/;

/**
 * Adapts examples of the error object to an operation, because operations share lists of examples. The field of another operation is
 * replaced by a field of this operation. The example is left out if this operation has no field that could be wrong.
 */
export function withOwnFields(view: OperationView): OperationView {
  const own = violationOf(view);
  const ofMedia = (media: MediaView): MediaView => ({
    ...media,
    examples: media.examples.flatMap((example) => {
      if (!isOfOther(example.value, view)) return [example];
      return own === undefined ? [] : [{ ...example, value: withViolation(example.value, own) }];
    }),
  });
  return { ...view, answers: view.answers.map((answer) => ({ ...answer, media: answer.media.map(ofMedia) })) };
}

function isOfOther(value: unknown, { parameters, body }: OperationView): boolean {
  if (codeIn(value) !== 'validation_failed') return false;
  const fields = body?.media.flatMap(({ schema }) => schema.members.map(({ name }) => name)) ?? [];
  const names = new Set([...parameters.map(({ name }) => name.toLowerCase()), ...fields]);
  const named = listOf(errorIn(value).errors).map((one) => (isRecord(one) ? textAt(one, 'param') : ''));
  return named.some((name) => !names.has(name.split(/[.[]/)[0] ?? ''));
}

/** Returns a violation that a request for the operation may have. */
function violationOf({ parameters, body }: OperationView): Record<string, unknown> | undefined {
  const field = body?.media[0]?.schema.members.find(({ isRequired }) => isRequired)?.name;
  if (field !== undefined)
    return { in: 'body', param: field, pointer: `/${field}`, code: 'required', message: 'Is required.' };
  const [query] = parameters.filter(({ place }) => place === 'query');
  return query && { in: 'query', param: query.name, code: 'duplicate', message: 'Is given more than once.' };
}

function withViolation(value: unknown, violation: Record<string, unknown>): unknown {
  const message = violationsMessage([violation], false);
  return { error: { ...errorIn(value), message, param: violation.param, errors: [violation] } };
}

function errorIn(value: unknown): DocumentObject {
  return isRecord(value) && isRecord(value.error) ? value.error : {};
}

/** Replaces the addresses of error pages in examples by those of this gateway, because a contract does not know them. */
export function withOwnPages(view: OperationView, publicUrl: string): OperationView {
  const ofMedia = (media: MediaView): MediaView => ({
    ...media,
    examples: media.examples.map(({ label, value }) => ({ label, value: withOwnPage(value, publicUrl) })),
  });
  const answers = view.answers.map((answer): AnswerView => ({ ...answer, media: answer.media.map(ofMedia) }));
  return { ...view, answers };
}

function withOwnPage(value: unknown, publicUrl: string): unknown {
  if (!isRecord(value) || !isRecord(value.error)) return value;
  const [, path] = FORM.exec(textAt(value.error, 'doc_url')) ?? [];
  return path === undefined ? value : { ...value, error: { ...value.error, doc_url: publicUrl + path } };
}
