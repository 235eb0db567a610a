// Violations as they may be written down for good: names that a client made up are left out, since anything can be in them.

import type { NotedViolation } from '../exchange.ts';
import type { ContractOperation } from './operations.ts';
import { escapeToken, follow, isObject, pathOf } from './pointer.ts';
import type { Violation } from './violations.ts';

const NOTES_MAX = 20;
/** A list of allowed values can be as long as the contract likes. */
const CONSTRAINT_LENGTH_MAX = 200;
/** Objects and lists of a contract that are looked into; further names are shown as if a client had made them up. */
const VISITED_MAX = 50_000;
const MADE_UP = '*';
/** What stands there are values, not schemas. */
const values: ReadonlySet<string> = new Set(['example', 'examples', 'enum', 'const', 'default']);

/** The names that the contract knows of what can be sent to an operation. Looked for when first asked, since most are never asked for. */
export function declaredNames(entry: ContractOperation): () => ReadonlySet<string> {
  let names: ReadonlySet<string> | undefined;
  return () => (names ??= namesIn(entry));
}

function namesIn({ document: { root }, located, parameters }: ContractOperation): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const requestBody = isObject(located.value) ? located.value.requestBody : undefined;
  const ahead: unknown[] = [requestBody, ...parameters.map(({ value }) => value)];
  for (const { value } of parameters) if (isObject(value)) names.add(String(value.name)).add(lower(value.name));
  while (ahead.length > 0 && seen.size < VISITED_MAX) {
    const value = ahead.pop();
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    if (Array.isArray(value)) {
      ahead.push(...value);
      continue;
    }
    for (const [name, below] of Object.entries(value)) if (!values.has(name)) ahead.push(below);
    if (!isObject(value)) continue;
    if (isObject(value.properties)) for (const name of Object.keys(value.properties)) names.add(name);
    if (Array.isArray(value.required)) for (const name of value.required) names.add(String(name));
    if (typeof value.$ref === 'string') ahead.push(follow(root, { value, pointer: '' }).value);
  }
  return names;
}

function lower(name: unknown): string {
  return String(name).toLowerCase();
}

/** At most 20, with `*` in place of every name that is not among these. */
export function toNotes(violations: readonly Violation[], names: ReadonlySet<string>): NotedViolation[] {
  const known = (token: string) => (names.has(token) || /^\d{1,6}$/.test(token) ? token : MADE_UP);
  return violations.slice(0, NOTES_MAX).map(({ in: place, param, pointer, code, constraint }) => ({
    in: place,
    // What is in a body is named by a pointer, which cannot be misread.
    param:
      pointer === undefined
        ? names.has(param)
          ? param
          : param.replace(/[^.[\]]+/g, known)
        : pathOf(pointer)
            .map((token) => `/${escapeToken(known(token))}`)
            .join(''),
    code,
    constraint: constraint && JSON.stringify(constraint).length <= CONSTRAINT_LENGTH_MAX ? constraint : undefined,
  }));
}
