// Turns Ajv's errors into the violations of the error object, with place, pointer, code, message and constraint.

import type { ErrorObject } from 'ajv';
import { escapeToken, type JsonObject, pathOf } from '../pointer.ts';
import { takeSteps } from '../schemas/check-scope.ts';
import { createNearNames, type NearName } from './near-names.ts';
import { settleUnions } from './unions.ts';
import { type ViolationMessage, violationMessageFor } from './violation-messages.ts';

export interface Violation extends ViolationMessage {
  readonly in: 'path' | 'query' | 'header' | 'cookie' | 'body';
  readonly param: string;
  readonly pointer?: string;
}

export const VIOLATIONS_MAX = 20;

/** Returns the members of the error object: at most 20 violations, and the `param` of the first. */
export function toFields(violations: readonly Violation[]): Record<string, unknown> {
  const errors = violations.slice(0, VIOLATIONS_MAX).map(withoutKeys);
  return {
    param: errors[0]?.param || undefined,
    errors,
    ...(violations.length > VIOLATIONS_MAX ? { truncated: true } : {}),
  };
}

/** Shortens API keys in names. The client chooses the names, and the answer may be written to logs. */
function withoutKeys(violation: Violation): Violation {
  const { param, pointer } = violation;
  if (!param.includes('sk_')) return violation;
  const safe = { ...violation, param: withoutKey(param) };
  return pointer === undefined ? safe : { ...safe, pointer: withoutKey(pointer) };
}

function withoutKey(name: string): string {
  return name.replace(/(sk_(?:live|test)_)[0-9A-Za-z]{16,}/g, '$1…');
}

const STEPS_PER_ERROR = 100;
/** Keywords whose errors only repeat that a nested keyword failed; the nested error is reported. */
const STRUCTURAL_KEYWORDS = new Set(['if', 'allOf', '$ref', 'propertyNames', 'dependentSchemas']);
/** A violation with one of these codes hides all others of the same value. */
const DECISIVE_CODES = ['read_only', 'wrong_type'];

/** Translates the errors of a body into violations, one per mistake. `root` is the document that contains the schema. */
export function toBodyViolations(errors: readonly ErrorObject[], root: JsonObject): Violation[] {
  const placed = errors.map((error) => ({ ...error, instancePath: `/body${error.instancePath}` }));
  return toViolations(placed, root);
}

/** Translates errors whose paths begin with the place: `/path`, `/query`, `/header`, `/cookie` or `/body`. */
export function toViolations(errors: readonly ErrorObject[], root: JsonObject): Violation[] {
  takeSteps(STEPS_PER_ERROR * errors.length);
  const nearName = createNearNames(root);
  const byPlace = new Map<string, Violation[]>();
  for (const error of settleUnions(errors, root)) {
    if (STRUCTURAL_KEYWORDS.has(error.keyword)) continue;
    const violation = toViolation(error, nearName);
    const place = `${violation.in} ${violation.pointer ?? violation.param}`;
    const there = byPlace.get(place) ?? [];
    if (!there.some(({ code }) => code === violation.code)) byPlace.set(place, [...there, violation]);
  }
  return [...byPlace.values()].flatMap((there) => {
    const first = DECISIVE_CODES.map((code) => there.find((violation) => violation.code === code)).find(Boolean);
    return first ? [first] : there;
  });
}

function toViolation(error: ErrorObject, nearName: NearName): Violation {
  const params = error.params as Record<string, unknown>;
  const named = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty ?? error.propertyName;
  const [place = 'body', ...tokens] = pathOf(error.instancePath);
  if (named !== undefined) tokens.push(String(named));
  const text = violationMessageFor(error);
  const near = text.code === 'unknown' ? nearName(error) : undefined;
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  const message = error.propertyName === undefined ? `${text.message}${hint}` : `As a name: ${text.message}`;
  return { ...whereOf(place, tokens), ...text, message };
}

function whereOf(place: string, tokens: readonly string[]): Pick<Violation, 'in' | 'param' | 'pointer'> {
  if (place === 'body') return inBody(tokens);
  return { in: place as Violation['in'], param: dottedName(tokens) };
}

/** A fault at one place. */
export type Fault = Pick<Violation, 'code' | 'message'>;

/** Creates a violation for a value in the body at a pointer. */
export function violationInBody(pointer: string, text: Fault): Violation {
  return { ...inBody(pathOf(pointer)), ...text };
}

function inBody(tokens: readonly string[]): Pick<Violation, 'in' | 'param' | 'pointer'> {
  return { in: 'body', param: dottedName(tokens), pointer: tokens.map((token) => `/${escapeToken(token)}`).join('') };
}

function dottedName(tokens: readonly string[]): string {
  return tokens.reduce(
    (path, token) => (/^\d+$/.test(token) ? `${path}[${token}]` : path === '' ? token : `${path}.${token}`),
    '',
  );
}
