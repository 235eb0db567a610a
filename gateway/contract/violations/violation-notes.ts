// Converts violations into a form that may be stored permanently. Names chosen by the client are replaced, because they can contain
// anything, even secrets.

import type { NotedViolation } from '../../exchange/findings.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { child, escapeToken, isRecord, objectAt, pathOf } from '../pointer.ts';
import { reachableFrom } from '../schemas/reachable.ts';
import type { Violation } from './violations.ts';

const NOTES_MAX = 20;
/** Longer constraints are left out, because an enum can be arbitrarily long. */
const CONSTRAINT_LENGTH_MAX = 200;
/**
 * Maximum number of objects and lists of a contract that are searched for names. Names beyond this number are treated as chosen by the
 * client.
 */
const VISITED_MAX = 50_000;
const MADE_UP = '*';
/** The members of these are values, not schemas. */
const VALUE_KEYWORDS: ReadonlySet<string> = new Set(['example', 'examples', 'enum', 'const', 'default']);

/**
 * Returns a function that returns the names that the contract declares for an operation's input. Searches the contract on the first call,
 * because most operations never need it.
 */
export function declaredNames(entry: ContractOperation): () => ReadonlySet<string> {
  let names: ReadonlySet<string> | undefined;
  return () => (names ??= namesIn(entry));
}

function namesIn({ document: { root }, located, parameters }: ContractOperation): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { value } of parameters) if (isRecord(value)) names.add(String(value.name)).add(lower(value.name));
  const start = [child(located, 'requestBody').value, ...parameters.map(({ value }) => value)];
  for (const schema of reachableFrom(root, start, (name) => !VALUE_KEYWORDS.has(name), VISITED_MAX)) {
    if (!isRecord(schema)) continue;
    for (const name of Object.keys(objectAt(schema, 'properties'))) names.add(name);
    if (Array.isArray(schema.required)) for (const name of schema.required) names.add(String(name));
  }
  return names;
}

function lower(name: unknown): string {
  return String(name).toLowerCase();
}

/** Returns at most 20 notes, with `*` in place of every name that is not in `names`. */
export function toNotes(violations: readonly Violation[], names: ReadonlySet<string>): NotedViolation[] {
  const knownToken = (token: string) => (names.has(token) || /^\d{1,6}$/.test(token) ? token : MADE_UP);
  return violations.slice(0, NOTES_MAX).map(({ in: place, param, pointer, code, constraint }) => ({
    in: place,
    // The place in a body is written as a pointer, because it is unambiguous.
    param:
      pointer === undefined
        ? names.has(param)
          ? param
          : param.replace(/[^.[\]]+/g, knownToken)
        : pathOf(pointer)
            .map((token) => `/${escapeToken(knownToken(token))}`)
            .join(''),
    code,
    constraint: constraint && JSON.stringify(constraint).length <= CONSTRAINT_LENGTH_MAX ? constraint : undefined,
  }));
}
