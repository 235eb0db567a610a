// Reads the error bodies that web frameworks send by default: their form, code and message (the fields are in field-errors.ts). Stack
// traces, class names and paths are dropped. Pure.

import type { ErrorType } from '../../catalogue/catalogue-entry.ts';
import { isRecord } from '../../shared/is-record.ts';
import {
  type DefaultPlace,
  FIELDS_MAX,
  type FieldError,
  fieldErrorsByName,
  listedFieldErrors,
  ownFieldErrors,
  publicCode,
} from './field-errors.ts';
import { publicName, publicSentence } from './public-text.ts';

/** The recognised forms of an error body. */
export type ErrorForm =
  | 'error object'
  | 'problem+json'
  | 'message'
  | 'error text'
  | 'detail'
  | 'errors by field'
  | 'list of errors';

export interface ParsedError {
  readonly form: ErrorForm;
  readonly type?: ErrorType | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly fields?: Record<string, unknown>;
}

const ERROR_TYPES = new Set<string>([
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'conflict_error',
  'idempotency_error',
  'rate_limit_error',
  'api_error',
] satisfies ErrorType[]);

/**
 * Parses an error body.
 *
 * @param value the parsed JSON of the body
 * @param isProblem whether the media type is application/problem+json (RFC 9457)
 * @param place of a field for which the body names none
 * @returns undefined if no form is recognised
 */
export function parseDialect(value: unknown, isProblem: boolean, place: DefaultPlace): ParsedError | undefined {
  if (!isRecord(value)) return undefined;
  if (isRecord(value.error)) return errorObject(value.error, place);
  const code = publicCode(value.code) ?? publicCode(value.error);
  const found = fieldErrorsOf(value, place);
  const message = messageOf(value, isProblem) ?? firstMessage(found);
  if (found.length === 0 && message === undefined && code === undefined) return undefined;
  return { form: formOf(value, isProblem), code, message, ...fieldsOf(found) };
}

/** Reads `{error: {…}}`: the gateway's own object, LoopBack, Google APIs. */
function errorObject(error: Record<string, unknown>, place: DefaultPlace): ParsedError {
  const type = typeof error.type === 'string' && ERROR_TYPES.has(error.type) ? (error.type as ErrorType) : undefined;
  const parsed = {
    form: 'error object',
    type,
    code: publicCode(error.code),
    message: publicSentence(error.message),
  } as const;
  if (Array.isArray(error.details)) return { ...parsed, ...fieldsOf(listedFieldErrors(error.details, place)) };
  const param = publicName(error.param);
  const errors = Array.isArray(error.errors) ? ownFieldErrors(error.errors, place) : undefined;
  return {
    ...parsed,
    fields: {
      ...(param === undefined ? {} : { param }),
      ...(errors === undefined ? {} : { errors }),
    },
  };
}

function formOf(value: Record<string, unknown>, isProblem: boolean): ErrorForm {
  if (isProblem) return 'problem+json';
  if (Array.isArray(value.errors)) return 'list of errors';
  if (isRecord(value.errors)) return 'errors by field';
  if (value.detail !== undefined) return 'detail';
  if (value.message !== undefined) return 'message';
  return publicSentence(value.error) === undefined ? 'errors by field' : 'error text';
}

function messageOf(value: Record<string, unknown>, isProblem: boolean): string | undefined {
  const { message, detail, title, error } = value;
  const problem = isProblem ? (publicSentence(detail) ?? publicSentence(title)) : undefined;
  // NestJS sends a list of sentences.
  const listedText = Array.isArray(message)
    ? publicSentence(message.filter((one) => typeof one === 'string').join('; '))
    : undefined;
  return (
    problem ??
    publicSentence(message) ??
    listedText ??
    publicSentence(detail) ??
    publicSentence(error) ??
    publicSentence(title)
  );
}

/** Returns the refused fields of a body, in the forms of the frameworks. */
function fieldErrorsOf(value: Record<string, unknown>, place: DefaultPlace): FieldError[] {
  if (Array.isArray(value.detail)) return listedFieldErrors(value.detail, place);
  if (Array.isArray(value.errors)) return listedFieldErrors(value.errors, place);
  if (Array.isArray(value.details)) return listedFieldErrors(value.details, place);
  if (isRecord(value.errors)) return fieldErrorsByName(value.errors, place);
  return isFieldMap(value) ? fieldErrorsByName(value, place) : [];
}

/** Whether every member holds texts about the field of its name, as Django REST framework sends them. */
function isFieldMap(value: Record<string, unknown>): boolean {
  const members = Object.values(value);
  return members.length > 0 && members.every((member) => Array.isArray(member) || isRecord(member));
}

function firstMessage([first]: readonly FieldError[]): string | undefined {
  if (first === undefined) return undefined;
  return publicSentence(first.param === '' ? first.message : `${first.param}: ${first.message}`);
}

function fieldsOf(found: readonly FieldError[]): { fields?: Record<string, unknown> } {
  if (found.length === 0) return {};
  return { fields: { param: found[0]?.param || undefined, errors: found.slice(0, FIELDS_MAX) } };
}
