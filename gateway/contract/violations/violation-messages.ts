// Translates one Ajv error for the client into code, message, and the violated keyword of the contract.

import type { ErrorObject } from 'ajv';
import { constraintText } from '../../shared/contracts/constraint-text.ts';
import type { ViolationCode } from '../../shared/contracts/violation-codes.ts';
import { isRecord } from '../../shared/is-record.ts';

/** What is wrong with a value, or with a part of a form. */
export interface ViolationMessage {
  readonly code: ViolationCode;
  readonly message: string;
  readonly constraint?: Readonly<Record<string, unknown>>;
}

type Params = Readonly<Record<string, unknown>>;

/** Keywords whose value is sent to the client, with the code, and the error parameter that contains the value. */
const CONSTRAINTS: Readonly<Record<string, readonly [code: ViolationCode, param: string]>> = {
  type: ['wrong_type', 'type'],
  format: ['wrong_format', 'format'],
  pattern: ['pattern_mismatch', 'pattern'],
  enum: ['not_allowed', 'allowedValues'],
  const: ['not_allowed', 'allowedValue'],
  minimum: ['too_small', 'limit'],
  exclusiveMinimum: ['too_small', 'limit'],
  maximum: ['too_large', 'limit'],
  exclusiveMaximum: ['too_large', 'limit'],
  minLength: ['too_short', 'limit'],
  maxLength: ['too_long', 'limit'],
  minItems: ['too_few_items', 'limit'],
  maxItems: ['too_many_items', 'limit'],
  minProperties: ['too_few_items', 'limit'],
  maxProperties: ['too_many_items', 'limit'],
  multipleOf: ['not_multiple_of', 'multipleOf'],
};

/** The other keywords: code and message. */
const READINGS: Readonly<Record<string, readonly [code: ViolationCode, message: (params: Params) => string]>> = {
  items: ['too_many_items', ({ limit }) => sentence(constraintText('maxItems', limit))],
  unevaluatedItems: ['too_many_items', ({ len }) => sentence(constraintText('maxItems', len))],
  contains: ['too_few_items', () => 'Must hold an item of a form that is missing here.'],
  uniqueItems: ['not_unique', () => 'Must not hold the same item twice.'],
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
  const [told, param] = CONSTRAINTS[error.keyword] ?? [];
  if (told !== undefined && param !== undefined) {
    const value = params[param];
    return {
      code: told,
      message: sentence(constraintText(error.keyword, value)),
      constraint: { [error.keyword]: value },
    };
  }
  const [code, message] = READINGS[error.keyword] ?? (['invalid', () => 'Is not valid.'] as const);
  return { code, message: message(params) };
}

function sentence(text = 'is not valid'): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
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
    isRecord(branch) && Array.isArray(branch.required) && Object.keys(branch).length === 1
      ? branch.required.join(' with ')
      : undefined,
  );
  return names.includes(undefined) ? undefined : (names as string[]);
}
