// Reads the refused fields of an upstream's error body. Each field becomes one entry of `errors` with its place, its name or pointer, a
// code and a sentence. Repeated input, class names and everything else are dropped. Pure.

import { isRecord } from '../../shared/is-record.ts';
import { hasInternals, publicConstraint, publicName, publicSentence } from './public-text.ts';

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

/** The place of a field without a declared place: the body, or the query of a request without a body. */
export type DefaultPlace = 'body' | 'query';

/** Maximum number of refused fields; the rest is dropped. */
export const FIELDS_MAX = 20;
const DEPTH_MAX = 8;
const NAME_MAX = 200;

const PARAMETER_PLACES = new Set(['path', 'query', 'header', 'cookie', 'body']);

/** Reads a list of field errors in the form of the gateway, or in a similar form. */
export function ownFieldErrors(list: readonly unknown[], place: DefaultPlace): FieldError[] {
  return list.slice(0, FIELDS_MAX).flatMap((entry) => {
    if (typeof entry === 'string') return [fieldError(place, [], undefined, entry)];
    if (!isRecord(entry)) return [];
    const isOwn = PARAMETER_PLACES.has(String(entry.in)) || typeof entry.param === 'string';
    return [isOwn ? ownFieldError(entry, place) : listedError(entry, place)];
  });
}

/** Reads an entry in the form of the gateway's own error object. Other members are dropped. */
function ownFieldError(entry: Record<string, unknown>, place: DefaultPlace): FieldError {
  const { message, code, pointer, param, constraint } = entry;
  const own = PARAMETER_PLACES.has(String(entry.in)) ? (entry.in as FieldError['in']) : place;
  const isPointer = typeof pointer === 'string' && (pointer === '' || pointer.startsWith('/'));
  const path = own === 'body' && isPointer ? tokensOf(pointer) : splitName(typeof param === 'string' ? param : '');
  const found = fieldError(own, path, publicCode(code) ?? slug(code), message);
  const name = publicName(param);
  const violated = publicConstraint(constraint);
  return {
    ...found,
    ...(name === undefined ? {} : { param: name }),
    ...(violated === undefined ? {} : { constraint: violated }),
  };
}

/** Reads a list with one entry per refused field: Pydantic, LoopBack, Spring, JSON:API, gRPC, GraphQL, or plain sentences. */
export function listedFieldErrors(list: readonly unknown[], place: DefaultPlace): FieldError[] {
  const found: FieldError[] = [];
  for (const entry of list.slice(0, FIELDS_MAX)) {
    if (typeof entry === 'string') found.push(fieldError(place, [], undefined, entry));
    else if (isRecord(entry)) {
      // google.rpc.BadRequest contains its fields one level below.
      if (Array.isArray(entry.fieldViolations)) found.push(...listedFieldErrors(entry.fieldViolations, place));
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
    return PARAMETER_PLACES.has(String(first))
      ? fieldError(first as FieldError['in'], rest, code, text)
      : fieldError(place, entry.loc, code, text);
  }
  if (typeof source.parameter === 'string') return fieldError('query', [source.parameter], code, text);
  const pointer = source.pointer ?? entry.pointer ?? entry.path;
  if (typeof pointer === 'string' && pointer.startsWith('/')) return fieldError('body', tokensOf(pointer), code, text);
  const name = entry.field ?? entry.param ?? (Array.isArray(pointer) ? pointer.join('.') : pointer);
  return fieldError(place, typeof name === 'string' && name !== '' ? splitName(name) : [], code, text);
}

/** Reads `{field: [texts]}`, nested in any depth: Django REST framework, Rails, ASP.NET, Laravel. */
export function fieldErrorsByName(fields: Record<string, unknown>, place: DefaultPlace): FieldError[] {
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
        collect(member, name === 'non_field_errors' || name === 'base' ? tokens : [...tokens, ...splitName(name)]);
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

/** Splits `a.b`, `a[0].b` and `$.a` into tokens. Returns no tokens if the text is not a name. */
function splitName(name: string): string[] {
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

/** Returns a code in the form of the catalogue; undefined if the value cannot be a code. */
export function publicCode(value: unknown): string | undefined {
  return typeof value === 'string' && /^[a-z][a-z0-9_]{0,63}$/.test(value) ? value : undefined;
}

/** Returns the code of a framework (`VALIDATION_FAILED`, `string_too_short`, `value_error.missing`) in the form of the catalogue. */
function slug(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^[\w.:-]{1,64}$/.test(value) || hasInternals(value)) return undefined;
  return publicCode(value.toLowerCase().replace(/[^a-z0-9]+/g, '_'));
}
