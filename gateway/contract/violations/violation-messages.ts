// Translates one Ajv error for the client: code, message, and the violated keyword of the contract.

import type { ErrorObject } from 'ajv';
import { isObject } from '../pointer.ts';

interface ViolationMessage {
  readonly code: string;
  readonly message: string;
  readonly constraint?: Readonly<Record<string, unknown>>;
}

type Params = Readonly<Record<string, unknown>>;
/** Code, message, and the error parameter that holds the keyword's value. */
type Reading = readonly [code: string, message: (params: Params) => string, constraint?: string];

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
  items: ['too_many_items', ({ limit }) => `Must have at most ${count(limit, 'item')}.`],
  unevaluatedItems: ['too_many_items', ({ len }) => `Must have at most ${count(len, 'item')}.`],
  contains: ['too_few_items', () => 'Must hold an item of a form that is missing here.'],
  uniqueItems: ['not_unique', () => 'Must not hold the same item twice.'],
  multipleOf: ['not_multiple_of', ({ multipleOf }) => `Must be a multiple of ${multipleOf}.`, 'multipleOf'],
  readOnly: ['read_only', () => 'Is set by the service and cannot be sent.'],
  required: ['required', () => 'Is required.'],
  dependentRequired: ['required', ({ property }) => `Is required together with ${property}.`],
  additionalProperties: ['unknown', () => 'Is not known here.'],
  unevaluatedProperties: ['unknown', () => 'Is not known here.'],
  'false schema': ['unknown', () => 'Is not known here.'],
  not: ['not_allowed', () => 'Has a form that is ruled out here.'],
};

export function violationMessageFor(error: ErrorObject): ViolationMessage {
  const params = error.params as Params;
  if (error.keyword === 'oneOf' || error.keyword === 'anyOf') return messageForUnion(error, params);
  const [code, message, constrained] = readings[error.keyword] ?? ['invalid', () => 'Is not valid.'];
  if (constrained === undefined) return { code, message: message(params) };
  return { code, message: message(params), constraint: { [error.keyword]: params[constrained] } };
}

/** If the branches of a union only require members, the message lists these. Other branches would not help the client. */
function messageForUnion({ keyword, schema }: ErrorObject, params: Params): ViolationMessage {
  const members = requiredOnly(schema);
  const constraint = members && { constraint: { [keyword]: schema } };
  if (params.passingSchemas) {
    const message = members
      ? `Must have only one of ${members.join(', ')}.`
      : 'Matches more than one of the forms of which exactly one is possible.';
    return { code: 'ambiguous', message, ...constraint };
  }
  const message = members
    ? `Must have ${keyword === 'oneOf' ? 'one' : 'at least one'} of ${members.join(', ')}.`
    : 'Matches none of the forms that are possible here.';
  return { code: 'no_match', message, ...constraint };
}

function requiredOnly(branches: unknown): string[] | undefined {
  if (!Array.isArray(branches)) return undefined;
  const names = branches.map((branch: unknown) =>
    isObject(branch) && Array.isArray(branch.required) && Object.keys(branch).length === 1
      ? branch.required.join(' with ')
      : undefined,
  );
  return names.includes(undefined) ? undefined : (names as string[]);
}

function typeName(type: unknown): string {
  return type === 'null' ? 'null' : `${/^[aio]/.test(String(type)) ? 'an' : 'a'} ${type}`;
}

function listed(values: unknown): string {
  const list = Array.isArray(values) ? values : [];
  const shown = list.slice(0, 20).map((value) => JSON.stringify(value));
  return shown.join(', ') + (list.length > 20 ? ', …' : '');
}
