// Reads the error bodies that web frameworks send by default. Recognised parts go into the gateway's error object: code, message, and one
// entry of `errors` per refused field. Stack traces, class names, paths and repeated input are dropped.

import type { ErrorType } from '../catalogue-entry.ts';
import { hasInternals, publicConstraint, publicName, publicSentence } from './public-text.ts';

/** The recognised forms of an error body. */
export type ErrorForm =
  | 'error object'
  | 'problem+json'
  | 'message'
  | 'error text'
  | 'detail'
  | 'errors by field'
  | 'list of errors';

/** One refused field, in the shape of the error object's `errors`. */
export interface FieldError {
  readonly in: 'path' | 'query' | 'header' | 'cookie' | 'body';
  readonly param: string;
  /** JSON pointer into the body (RFC 6901). */
  readonly pointer?: string;
  readonly code: string;
  readonly message: string;
  readonly constraint?: Readonly<Record<string, unknown>>;
}

export interface ParsedError {
  readonly form: ErrorForm;
  readonly type?: ErrorType | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly fields?: Record<string, unknown>;
}

/** Where a field without a declared place was sent: in the body, or in the query of a request without a body. */
export type DefaultPlace = 'body' | 'query';

const FIELDS_MAX = 20;
const DEPTH_MAX = 8;
const NAME_MAX = 200;

const types = new Set<string>([
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'conflict_error',
  'idempotency_error',
  'rate_limit_error',
  'api_error',
] satisfies ErrorType[]);

const places = new Set(['path', 'query', 'header', 'cookie', 'body']);

/**
 * Parses an error body.
 *
 * @param value the parsed JSON of the body
 * @param isProblem whether the media type is application/problem+json (RFC 9457)
 * @param place of fields that the body does not place itself
 * @returns undefined if no form is recognised
 */
export function parseDialect(value: unknown, isProblem: boolean, place: DefaultPlace): ParsedError | undefined {
  if (!isRecord(value)) return undefined;
  if (isRecord(value.error)) return errorObject(value.error, place);
  const code = codeOf(value.code) ?? codeOf(value.error);
  const found = fieldErrorsOf(value, place);
  const message = messageOf(value, isProblem) ?? firstMessage(found);
  if (found.length === 0 && message === undefined && code === undefined) return undefined;
  return { form: formOf(value, isProblem), code, message, ...fieldsOf(found) };
}

/** `{error: {…}}`: the gateway's own object, LoopBack, Google APIs. */
function errorObject(error: Record<string, unknown>, place: DefaultPlace): ParsedError {
  const type = typeof error.type === 'string' && types.has(error.type) ? (error.type as ErrorType) : undefined;
  const parsed = {
    form: 'error object',
    type,
    code: codeOf(error.code),
    message: publicSentence(error.message),
  } as const;
  if (Array.isArray(error.details)) return { ...parsed, ...fieldsOf(listed(error.details, place)) };
  const param = publicName(error.param);
  const errors = Array.isArray(error.errors) ? ownErrors(error.errors, place) : undefined;
  return {
    ...parsed,
    fields: {
      ...(param === undefined ? {} : { param }),
      ...(errors === undefined ? {} : { errors }),
    },
  };
}

/** The entries of the gateway's own form, or of others. */
function ownErrors(list: readonly unknown[], place: DefaultPlace): FieldError[] {
  return list.slice(0, FIELDS_MAX).flatMap((entry) => {
    if (typeof entry === 'string') return [fieldError(place, [], undefined, entry)];
    if (!isRecord(entry)) return [];
    const isOwn = places.has(String(entry.in)) || typeof entry.param === 'string';
    return [isOwn ? ownFieldError(entry, place) : listedError(entry, place)];
  });
}

/** An entry as the gateway's own error object has it; other members of it are dropped. */
function ownFieldError(entry: Record<string, unknown>, place: DefaultPlace): FieldError {
  const { message, code, pointer, param, constraint } = entry;
  const own = places.has(String(entry.in)) ? (entry.in as FieldError['in']) : place;
  const isPointer = typeof pointer === 'string' && (pointer === '' || pointer.startsWith('/'));
  const path = own === 'body' && isPointer ? tokensOf(pointer) : dotted(typeof param === 'string' ? param : '');
  const found = fieldError(own, path, codeOf(code) ?? slug(code), message);
  const name = publicName(param);
  const violated = publicConstraint(constraint);
  return {
    ...found,
    ...(name === undefined ? {} : { param: name }),
    ...(violated === undefined ? {} : { constraint: violated }),
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

/** The refused fields of a body, in the forms of the frameworks. */
function fieldErrorsOf(value: Record<string, unknown>, place: DefaultPlace): FieldError[] {
  if (Array.isArray(value.detail)) return listed(value.detail, place);
  if (Array.isArray(value.errors)) return listed(value.errors, place);
  if (Array.isArray(value.details)) return listed(value.details, place);
  if (isRecord(value.errors)) return byField(value.errors, place);
  return isFieldMap(value) ? byField(value, place) : [];
}

/** Whether every member holds texts about the field of its name, as Django REST framework sends them. */
function isFieldMap(value: Record<string, unknown>): boolean {
  const members = Object.values(value);
  return members.length > 0 && members.every((member) => Array.isArray(member) || isRecord(member));
}

/** A list with one entry per refused field: Pydantic, LoopBack, Spring, JSON:API, gRPC, GraphQL, or plain sentences. */
function listed(list: readonly unknown[], place: DefaultPlace): FieldError[] {
  const found: FieldError[] = [];
  for (const entry of list.slice(0, FIELDS_MAX)) {
    if (typeof entry === 'string') found.push(fieldError(place, [], undefined, entry));
    else if (isRecord(entry)) {
      // google.rpc.BadRequest holds its fields one level below.
      if (Array.isArray(entry.fieldViolations)) found.push(...listed(entry.fieldViolations, place));
      else if (hasText(entry)) found.push(listedError(entry, place));
    }
  }
  return found.slice(0, FIELDS_MAX);
}

function hasText(entry: Record<string, unknown>): boolean {
  return [entry.msg, entry.message, entry.defaultMessage, entry.detail, entry.description, entry.title].some(
    (text) => typeof text === 'string',
  );
}

function listedError(entry: Record<string, unknown>, place: DefaultPlace): FieldError {
  const source = isRecord(entry.source) ? entry.source : {};
  const extensions = isRecord(entry.extensions) ? entry.extensions : {};
  const text = entry.msg ?? entry.message ?? entry.defaultMessage ?? entry.detail ?? entry.description ?? entry.title;
  const code = slug(entry.type) ?? slug(entry.code) ?? slug(extensions.code);
  if (Array.isArray(entry.loc)) {
    const [first, ...rest] = entry.loc;
    return places.has(String(first))
      ? fieldError(first as FieldError['in'], rest, code, text)
      : fieldError(place, entry.loc, code, text);
  }
  if (typeof source.parameter === 'string') return fieldError('query', [source.parameter], code, text);
  const pointer = source.pointer ?? entry.pointer ?? entry.path;
  if (typeof pointer === 'string' && pointer.startsWith('/')) return fieldError('body', tokensOf(pointer), code, text);
  const name = entry.field ?? entry.param ?? (Array.isArray(pointer) ? pointer.join('.') : pointer);
  return fieldError(place, typeof name === 'string' && name !== '' ? dotted(name) : [], code, text);
}

/** `{field: [texts]}`, nested at will: Django REST framework, Rails, ASP.NET, Laravel. */
function byField(fields: Record<string, unknown>, place: DefaultPlace): FieldError[] {
  const found: FieldError[] = [];
  function collect(value: unknown, tokens: readonly string[]): void {
    if (found.length >= FIELDS_MAX || tokens.length > DEPTH_MAX) return;
    if (typeof value === 'string') found.push(fieldError(place, tokens, undefined, value));
    else if (Array.isArray(value)) {
      const isTexts = value.every((one) => typeof one === 'string');
      value.slice(0, FIELDS_MAX).forEach((one, index) => {
        collect(one, isTexts ? tokens : [...tokens, String(index)]);
      });
    } else if (isRecord(value)) {
      for (const [name, member] of Object.entries(value).slice(0, FIELDS_MAX)) {
        collect(member, name === 'non_field_errors' || name === 'base' ? tokens : [...tokens, ...dotted(name)]);
      }
    }
  }
  collect(fields, []);
  return found;
}

function fieldError(
  place: FieldError['in'],
  path: readonly unknown[],
  code: string | undefined,
  text: unknown,
): FieldError {
  const names = path.map(publicName);
  const tokens = names.includes(undefined) ? [] : (names as string[]);
  const pointer = tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  return {
    in: place,
    param: tokens.join('.').slice(0, NAME_MAX),
    ...(place === 'body' ? { pointer: pointer.slice(0, NAME_MAX) } : {}),
    code: code ?? 'invalid',
    message: publicSentence(text) ?? 'is not valid',
  };
}

function fieldsOf(found: readonly FieldError[]): { fields?: Record<string, unknown> } {
  if (found.length === 0) return {};
  return { fields: { param: found[0]?.param || undefined, errors: found.slice(0, FIELDS_MAX) } };
}

function firstMessage([first]: readonly FieldError[]): string | undefined {
  if (first === undefined) return undefined;
  return publicSentence(first.param === '' ? first.message : `${first.param}: ${first.message}`);
}

/** `a.b`, `a[0].b` and `$.a` as tokens; none of a text that is no name. */
function dotted(name: string): string[] {
  if (publicName(name) === undefined) return [];
  return name
    .slice(0, NAME_MAX)
    .replace(/^\$\.?/, '')
    .split(/[.[\]]+/)
    .filter((token) => token !== '');
}

function tokensOf(pointer: string): string[] {
  const path = pointer.slice(1, NAME_MAX);
  if (hasInternals(path)) return [];
  return path.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A code in the form of the catalogue; undefined if the text is none. */
function codeOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[a-z][a-z0-9_]{0,63}$/.test(value) ? value : undefined;
}

/** The code of a framework (`VALIDATION_FAILED`, `string_too_short`, `value_error.missing`) in the form of the catalogue. */
function slug(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^[\w.:-]{1,64}$/.test(value) || hasInternals(value)) return undefined;
  return codeOf(value.toLowerCase().replace(/[^a-z0-9]+/g, '_'));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
