// Ajv's errors → the violations of the error object: place, pointer, code, message, constraint.

import type { ErrorObject } from 'ajv';
import type { JsonObject } from './document.ts';
import { escapeToken, pathOf } from './pointer.ts';
import { settleUnions } from './unions.ts';
import { violationMessageFor } from './violation-messages.ts';

export interface Violation {
  readonly in: 'path' | 'query' | 'header' | 'cookie' | 'body';
  readonly param: string;
  readonly pointer?: string;
  readonly code: string;
  readonly message: string;
  readonly constraint?: Readonly<Record<string, unknown>>;
}

export const VIOLATIONS_MAX = 20;

/** Members of the error object: at most 20 violations, `param` of the first. */
export function toFields(violations: readonly Violation[]): Record<string, unknown> {
  const errors = violations.slice(0, VIOLATIONS_MAX).map(withoutKeys);
  return {
    param: errors[0]?.param || undefined,
    errors,
    ...(violations.length > VIOLATIONS_MAX ? { truncated: true } : {}),
  };
}

/** Names are the client's choice, and what is answered is written to its logs: a key that has got among them stays out of those. */
function withoutKeys(violation: Violation): Violation {
  const { param, pointer } = violation;
  if (!param.includes('sk_')) return violation;
  const safe = { ...violation, param: withoutKey(param) };
  return pointer === undefined ? safe : { ...safe, pointer: withoutKey(pointer) };
}

function withoutKey(name: string): string {
  return name.replace(/(sk_(?:live|test)_)[0-9A-Za-z]{16,}/g, '$1…');
}

/** Keywords that only say that a keyword below them failed; that one is reported. */
const structural = new Set(['if', 'allOf', '$ref', 'propertyNames', 'dependentSchemas']);
/** What makes everything else that is wrong with the same value beside the point. */
const decisive = ['read_only', 'wrong_type'];

/**
 * Translates the errors of one check, one violation per mistake. Instance paths begin with `/requestBody` or `/body`, `/query`, `/path`,
 * `/header` or `/cookie`; `root` is the document whose schemas they are about.
 */
export function toViolations(errors: readonly ErrorObject[], root: JsonObject): Violation[] {
  const byPlace = new Map<string, Violation[]>();
  for (const error of settleUnions(errors, root)) {
    if (structural.has(error.keyword)) continue;
    const violation = toViolation(error);
    const place = `${violation.in} ${violation.pointer ?? violation.param}`;
    const there = byPlace.get(place) ?? [];
    if (!there.some(({ code }) => code === violation.code)) byPlace.set(place, [...there, violation]);
  }
  return [...byPlace.values()].flatMap((there) => {
    const first = decisive.map((code) => there.find((violation) => violation.code === code)).find(Boolean);
    return first ? [first] : there;
  });
}

function toViolation(error: ErrorObject): Violation {
  const params = error.params as Record<string, unknown>;
  const named = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty ?? error.propertyName;
  const [place = 'requestBody', ...tokens] = pathOf(error.instancePath);
  if (named !== undefined) tokens.push(String(named));
  const words = violationMessageFor(error);
  const message = error.propertyName === undefined ? words.message : `As a name: ${words.message}`;
  return { ...whereOf(place, tokens), ...words, message };
}

function whereOf(place: string, tokens: readonly string[]): Pick<Violation, 'in' | 'param' | 'pointer'> {
  if (place === 'requestBody' || place === 'body') return inBody(tokens);
  return { in: place as Violation['in'], param: dotted(tokens) };
}

/** A violation of a value in the body, by the pointer to it. */
export function violationInBody(pointer: string, words: Pick<Violation, 'code' | 'message'>): Violation {
  return { ...inBody(pathOf(pointer)), ...words };
}

function inBody(tokens: readonly string[]): Pick<Violation, 'in' | 'param' | 'pointer'> {
  return { in: 'body', param: dotted(tokens), pointer: tokens.map((token) => `/${escapeToken(token)}`).join('') };
}

function dotted(tokens: readonly string[]): string {
  return tokens.reduce(
    (path, token) => (/^\d+$/.test(token) ? `${path}[${token}]` : path === '' ? token : `${path}.${token}`),
    '',
  );
}
