// Ajv's errors → the violations of the error object (http-conventions 2.2): place, pointer, code, message, constraint.

import type { ErrorObject } from 'ajv';

export interface Violation {
  readonly in: 'path' | 'query' | 'header' | 'cookie' | 'body';
  readonly param: string;
  readonly pointer?: string;
  readonly code: string;
  readonly message: string;
  readonly constraint?: Readonly<Record<string, unknown>>;
}

const VIOLATIONS_MAX = 20;

/** Members of the error object: at most 20 violations, `param` of the first. */
export function toFields(violations: readonly Violation[]): Record<string, unknown> {
  return {
    param: violations[0]?.param,
    errors: violations.slice(0, VIOLATIONS_MAX),
    ...(violations.length > VIOLATIONS_MAX ? { truncated: true } : {}),
  };
}

type Reading = readonly [code: string, message: (params: Record<string, unknown>) => string, constraint?: string];

const count = (n: unknown, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`;

const readings: Readonly<Record<string, Reading>> = {
  type: ['wrong_type', ({ type }) => `Must be ${[type].flat().map(typeName).join(' or ')}.`, 'type'],
  format: ['wrong_format', ({ format }) => `Must be a valid ${format}.`, 'format'],
  pattern: ['pattern_mismatch', ({ pattern }) => `Must match the pattern ${pattern}.`, 'pattern'],
  enum: ['not_allowed', ({ allowedValues }) => `Must be one of ${listed(allowedValues)}.`, 'allowedValues'],
  const: ['not_allowed', ({ allowedValue }) => `Must be ${JSON.stringify(allowedValue)}.`, 'allowedValue'],
  minimum: ['too_small', ({ limit }) => `Must be at least ${limit}.`, 'limit'],
  exclusiveMinimum: ['too_small', ({ limit }) => `Must be more than ${limit}.`, 'limit'],
  maximum: ['too_large', ({ limit }) => `Must be at most ${limit}.`, 'limit'],
  exclusiveMaximum: ['too_large', ({ limit }) => `Must be less than ${limit}.`, 'limit'],
  minLength: ['too_short', ({ limit }) => `Must have at least ${count(limit, 'character')}.`, 'limit'],
  maxLength: ['too_long', ({ limit }) => `Must have at most ${count(limit, 'character')}.`, 'limit'],
  minItems: ['too_few_items', ({ limit }) => `Must have at least ${count(limit, 'item')}.`, 'limit'],
  maxItems: ['too_many_items', ({ limit }) => `Must have at most ${count(limit, 'item')}.`, 'limit'],
  minProperties: ['too_few_items', ({ limit }) => `Must have at least ${count(limit, 'member')}.`, 'limit'],
  maxProperties: ['too_many_items', ({ limit }) => `Must have at most ${count(limit, 'member')}.`, 'limit'],
  uniqueItems: ['not_unique', () => 'Must not hold the same item twice.'],
  multipleOf: ['not_multiple_of', ({ multipleOf }) => `Must be a multiple of ${multipleOf}.`, 'multipleOf'],
  readOnly: ['read_only', () => 'Is set by the service and cannot be sent.'],
  anyOf: ['no_match', () => 'Matches none of the forms that are possible here.'],
  not: ['not_allowed', () => 'Has a form that is ruled out here.'],
};

/** Keywords that only say that a keyword below them failed; that one is reported. */
const structural = new Set(['if', 'allOf', '$ref', 'propertyNames']);

/** Translates the errors of one validator call. Instance paths begin with `/requestBody`, `/query`, `/path`, `/header` or `/cookie`. */
export function toViolations(errors: readonly ErrorObject[] | null | undefined): Violation[] {
  const all = errors ?? [];
  const found = all.filter((error) => !structural.has(error.keyword) && !insideUnion(error, all)).map(toViolation);
  const distinct = new Map(
    found.map((violation) => [`${violation.in} ${violation.pointer ?? violation.param} ${violation.code}`, violation]),
  );
  return [...distinct.values()];
}

/** Errors of the branches of a union that failed as a whole say little about what was meant; the union itself is reported. */
function insideUnion(error: ErrorObject, all: readonly ErrorObject[]): boolean {
  return all.some(
    (union) =>
      (union.keyword === 'oneOf' || union.keyword === 'anyOf') &&
      union !== error &&
      error.schemaPath.startsWith(`${union.schemaPath}/`) &&
      !isNullableBranch(union),
  );
}

/** `anyOf: [X, null]` is how a nullable X is written: there, the errors of X are what helps. */
function isNullableBranch(union: ErrorObject): boolean {
  const branches: unknown = union.schema;
  return Array.isArray(branches) && branches.length === 2 && branches.some((branch) => branch?.type === 'null');
}

function toViolation(error: ErrorObject): Violation {
  const params = error.params as Record<string, unknown>;
  const named =
    params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName;
  const tokens = error.instancePath.split('/').slice(1).map(unescapeToken);
  const place = tokens.shift() ?? 'requestBody';
  if (named !== undefined) tokens.push(String(named));
  return { ...whereOf(place, tokens), ...whatOf(error, params) };
}

function whereOf(place: string, tokens: readonly string[]): Pick<Violation, 'in' | 'param' | 'pointer'> {
  if (place === 'requestBody' || place === 'body') {
    const pointer = tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    return { in: 'body', param: dotted(tokens), pointer };
  }
  return { in: place as Violation['in'], param: dotted(tokens) };
}

function whatOf(
  error: ErrorObject,
  params: Record<string, unknown>,
): Pick<Violation, 'code' | 'message' | 'constraint'> {
  if (error.keyword === 'required' || error.keyword === 'dependentRequired')
    return { code: 'required', message: 'Is required.' };
  if (params.additionalProperty !== undefined || params.unevaluatedProperty !== undefined) {
    return { code: 'unknown', message: 'Is not known here.' };
  }
  if (error.keyword === 'oneOf') {
    return params.passingSchemas
      ? { code: 'ambiguous', message: 'Matches more than one of the forms of which exactly one is possible.' }
      : { code: 'no_match', message: 'Matches none of the forms that are possible here.' };
  }
  const reading = readings[error.keyword];
  if (!reading) return { code: 'invalid', message: 'Is not valid.' };
  const [code, message, constrained] = reading;
  if (constrained === undefined) return { code, message: message(params) };
  return { code, message: message(params), constraint: { [error.keyword]: params[constrained] } };
}

function dotted(tokens: readonly string[]): string {
  return tokens.reduce(
    (path, token) => (/^\d+$/.test(token) ? `${path}[${token}]` : path === '' ? token : `${path}.${token}`),
    '',
  );
}

function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

function typeName(type: unknown): string {
  return type === 'null' ? 'null' : `${/^[aio]/.test(String(type)) ? 'an' : 'a'} ${type}`;
}

function listed(values: unknown): string {
  const list = Array.isArray(values) ? values : [];
  const shown = list.slice(0, 20).map((value) => JSON.stringify(value));
  return shown.join(', ') + (list.length > 20 ? ', …' : '');
}
