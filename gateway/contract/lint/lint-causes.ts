// Tells causes from consequences among the problems of the linter. A misspelt or wrongly indented member is one mistake, and the linter
// reports it as two or more.

import type { NormalizedProblem } from '@redocly/openapi-core';
import { closest } from '../../shared/mistakes.ts';
import { isRecord, pathOf, valueAt } from '../pointer.ts';
import { EXPLAINING_RULES } from './misplaced-rules.ts';

/** The object that a problem is about, and what the linter found there. */
interface Found {
  readonly problem: NormalizedProblem;
  /** The object, for a member that is not expected or empty: the object that has it. */
  readonly holder: string;
  readonly unexpected?: string | undefined;
  readonly missing?: readonly string[] | undefined;
  readonly isEmpty: boolean;
  /** Whether it is a value in place of an object. */
  readonly isValue: boolean;
}

/** Whether the message says that there is nothing where an object belongs. */
export function isAboutNothing(message: string): boolean {
  return /^Expected type `[^`]*` \(object\) but got `null`/.test(message);
}

/** Returns the name of the member that the message calls unexpected. */
export function unexpectedIn(message: string): string | undefined {
  return /^Property `([^`]*)` is not expected here/.exec(message)?.[1];
}

/** Returns the names of the members of which one is missing. */
export function missingIn(message: string): string[] | undefined {
  const [, one, several] =
    /^The field `([^`]*)` must be present|^Must contain at least one of the following fields: (.*?)\.?$/.exec(
      message,
    ) ?? [];
  return (one ?? several)?.split(', ');
}

/** Removes the problems that another problem has caused. @param root the content of the document */
export function withoutConsequences(all: readonly NormalizedProblem[], root: unknown): NormalizedProblem[] {
  const problems = withOneNameEach(all);
  const explained = new Set(problems.filter(({ ruleId }) => EXPLAINING_RULES.has(ruleId)).map((one) => placeOf(one)));
  const mistyped = new Set(problems.filter((one) => pathIn(one).at(-1) === 'type').map((one) => placeOf(one)));
  const misread = problems.flatMap(({ ruleId, location }) =>
    ruleId === 'gateway/references-fit-their-place' ? location.slice(1) : [],
  );
  const isMisread = ({ ruleId, location: [at] }: NormalizedProblem) =>
    /^struct$|(keywords-exist|parameters-have-a-schema)$/.test(ruleId) &&
    misread.some((target) => isWithin(at, target));
  const shallow = problems.flatMap((problem) => shallowTargets(problem, root));
  const isOfShallow = (problem: NormalizedProblem) =>
    shallow.some((target) => isBelow(pathIn(problem), target)) && !isNothing(problem);
  const byHolder = Map.groupBy(
    problems.filter((one) => !isMisread(one) && !isOfShallow(one)).map(readProblem),
    ({ holder }) => holder,
  );
  const isExplained = (problem: NormalizedProblem) =>
    explained.has(placeOf(problem)) || explained.has(placeOf(problem, pathIn(problem).slice(0, -1)));
  return [...byHolder.values()].flatMap((there) => {
    const suggested = new Set(
      there.flatMap(({ unexpected, problem }) => (unexpected === undefined ? [] : problem.suggest)),
    );
    const lacksContent = there.some(({ missing }) => missing?.includes('content'));
    const hasEmpty = there.some(({ isEmpty }) => isEmpty);
    const isCaused = ({ problem, unexpected, missing, isValue }: Found) =>
      (isValue && hasEmpty) ||
      (unexpected !== undefined && (hasEmpty || isExplained(problem) || (lacksContent && unexpected === 'schema'))) ||
      (isNotAllowed(problem) && mistyped.has(placeOf(problem, [...pathIn(problem).slice(0, -1), 'type']))) ||
      missing?.some((name) => suggested.has(name) || (name === 'schema' && explained.has(placeOf(problem))));
    return there.filter((found) => !isCaused(found)).map(({ problem }) => problem);
  });
}

const UNDECLARED = /^The operation does not define the path parameter `\{(.*)\}` expected by path `(.*)`/;
const UNUSED = /^Path parameter `(.*)` is not used in the path `(.*)`/;

/** Leaves one problem for each parameter of a path whose name differs from the one in the path, and none for each operation. */
function withOneNameEach(problems: readonly NormalizedProblem[]): readonly NormalizedProblem[] {
  const undeclared = problems.filter(({ message }) => UNDECLARED.test(message));
  if (undeclared.length === 0) return problems;
  const unused = problems.filter(({ message }) => UNUSED.test(message));
  const namesIn = (found: readonly NormalizedProblem[], form: RegExp, path: string | undefined) => {
    const parts = found.map(({ message }) => form.exec(message));
    return [...new Set(parts.flatMap((part) => (part?.[2] === path ? (part?.[1] ?? []) : [])))];
  };
  const renamed = unused.filter((one) => {
    const path = UNUSED.exec(one.message)?.[2];
    const [missing, others] = [namesIn(undeclared, UNDECLARED, path), namesIn(unused, UNUSED, path)];
    return pathIn(one)[0] === 'paths' && missing.length === others.length;
  });
  const lists = problems.filter((one) => pathIn(one).at(-1) === 'parameters' && /^Expected type/.test(one.message));
  const causes = [...lists, ...renamed].map((one) => pathIn(one).slice(0, pathIn(one).lastIndexOf('parameters')));
  return problems.flatMap((one) => {
    if (undeclared.includes(one)) return causes.some((cause) => isBelow(pathIn(one), cause)) ? [] : [one];
    if (!unused.includes(one)) return [one];
    const [, name = '', path] = UNUSED.exec(one.message) ?? [];
    const missing = namesIn(undeclared, UNDECLARED, path);
    if (!renamed.includes(one)) return missing.length > 0 ? [] : [one];
    const meant = missing.length === 1 ? missing[0] : closest(name, missing);
    return [{ ...one, suggest: meant === undefined ? [] : [meant] }];
  });
}

/**
 * Returns the place of a reference that is indented too little below a key without content, and the place to which it leads. The linter
 * reads what is there as another kind of object.
 */
function shallowTargets(problem: NormalizedProblem, root: unknown): string[][] {
  if (!isNothing(problem)) return [];
  const path = pathIn(problem);
  return [1, 2].flatMap((levels) => {
    const holder = path.slice(0, -levels);
    const value = valueAt(root, holder);
    const reference = isRecord(value) ? value.$ref : undefined;
    return typeof reference === 'string' ? [[...holder, '$ref'], pathOf(reference.replace('#', ''))] : [];
  });
}

function isNothing({ ruleId, message }: NormalizedProblem): boolean {
  return ruleId === 'struct' && isAboutNothing(message);
}

/** Whether a place is another one, or inside it. */
function isBelow(path: readonly string[], holder: readonly string[]): boolean {
  return holder.every((token, index) => path[index] === token);
}

function readProblem(problem: NormalizedProblem): Found {
  const { message, ruleId } = problem;
  const path = pathIn(problem);
  const unexpected = ruleId === 'struct' ? unexpectedIn(message) : undefined;
  const isEmpty = isNothing(problem);
  const isValue = ruleId === 'struct' && /^Expected type `Schema` \(object\) but got `string`/.test(message);
  const holder = unexpected !== undefined || isEmpty || isValue ? path.slice(0, -1) : path;
  return { problem, holder: JSON.stringify(holder), unexpected, missing: missingIn(message), isEmpty, isValue };
}

/** Whether a member does not fit the type beside it. If the type is unknown, no member fits. */
function isNotAllowed({ message, ruleId }: NormalizedProblem): boolean {
  return ruleId === 'gateway/bounds-fit-their-type' || /^The field `[^`]*` is not allowed here/.test(message);
}

type ProblemLocation = NormalizedProblem['location'][number] | undefined;

/** Whether a place is inside another one, which a reference to the wrong section has read as another kind of object. */
function isWithin(at: ProblemLocation, target: ProblemLocation): boolean {
  const pointers = [at, target].map((one) => (one && 'pointer' in one ? one.pointer : undefined));
  const [inner, outer] = pointers;
  if (inner === undefined || outer === undefined || at?.source !== target?.source) return false;
  return inner === outer || inner.startsWith(`${outer}/`);
}

/** Returns the file and the place of a problem as one text. @param path the place, or one around it */
function placeOf(problem: NormalizedProblem, path = pathIn(problem)): string {
  return JSON.stringify([problem.location[0]?.source.absoluteRef, ...path]);
}

/** Returns the place of a problem in its file. A missing member has the place of the object, or its own. */
export function pathIn({ location: [location] }: NormalizedProblem): string[] {
  return location && 'pointer' in location ? pathOf((location.pointer ?? '').replace(/^#/, '')) : [];
}
