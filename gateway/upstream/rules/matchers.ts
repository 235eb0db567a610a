// Compiles the member conditions of a rule into a function, once per configuration.

import type { Operation } from '../../exchange/operation.ts';
import type { JsonNode, Scalar } from '../../shared/json-tree.ts';
import { pathParameterNames } from '../path.ts';
import { memberPath, nodeAt } from './members.ts';

/**
 * A condition on a member: it is this scalar, or one of several; it is present, or absent; it contains a text, or equals a path parameter.
 * The last two ignore case.
 */
export type Matcher =
  | Scalar
  | readonly Scalar[]
  | { readonly present: boolean }
  | { readonly contains: string }
  | { readonly path: string };

/** A condition for each member. The keys are dotted names. */
export type MemberMatchers = Readonly<Record<string, Matcher>>;

/** The operation of the request and its path values. */
export interface AddressedOperation {
  readonly operation: Operation;
  /** Decoded values of the template's parameters, in template order. */
  readonly pathValues: readonly string[];
}

type Test<T> = (found: T, addressed: AddressedOperation) => boolean;

/** Returns a test for all conditions. A value that is not an object has no members. */
export function membersTest(matchers: MemberMatchers): Test<JsonNode | undefined> {
  const tests = Object.entries(matchers).map(([name, matcher]) => ({
    path: memberPath(name),
    holds: nodeTest(matcher),
  }));
  return (root, addressed) => tests.every(({ path, holds }) => holds(nodeAt(root, path), addressed));
}

function nodeTest(matcher: Matcher): Test<JsonNode | undefined> {
  if (typeof matcher === 'object' && matcher !== null && 'present' in matcher)
    return (found) => (found !== undefined) === matcher.present;
  const holds = scalarTest(matcher);
  return (found, addressed) => found?.kind === 'scalar' && holds(found.value, addressed);
}

function scalarTest(matcher: Exclude<Matcher, { present: boolean }>): Test<Scalar> {
  if (typeof matcher !== 'object' || matcher === null) return (value) => value === matcher;
  if ('contains' in matcher) {
    const part = matcher.contains.toLowerCase();
    return (value) => typeof value === 'string' && value.toLowerCase().includes(part);
  }
  if ('path' in matcher) {
    return (value, { operation, pathValues }) => {
      const wanted = pathValues[pathParameterNames(operation.path).indexOf(matcher.path)];
      return typeof value === 'string' && wanted !== undefined && value.toLowerCase() === wanted.toLowerCase();
    };
  }
  return (value) => matcher.includes(value);
}
