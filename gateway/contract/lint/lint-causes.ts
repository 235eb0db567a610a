// Tells causes from consequences among the problems of the linter. A misspelt or wrongly indented member is one mistake, and the linter
// reports it as two or more.

import type { NormalizedProblem } from '@redocly/openapi-core';
import { pathOf } from '../pointer.ts';
import { EXPLAINING_RULES } from './misplaced-rules.ts';

/** The object that a problem is about, and what the linter found there. */
interface Found {
  readonly problem: NormalizedProblem;
  /** The object, for a member that is not expected or empty: the object that has it. */
  readonly holder: string;
  readonly unexpected?: string | undefined;
  readonly missing?: readonly string[] | undefined;
  readonly isEmpty: boolean;
}

/** Whether the message says that there is nothing where an object belongs. */
export function isAboutNothing(message: string): boolean {
  return /^Expected type `[^`]*` \(object\) but got `null`/.test(message);
}

/** Returns the name of the member that the message calls unexpected. */
export function unexpectedIn(message: string): string | undefined {
  return /^Property `([^`]*)` is not expected here/.exec(message)?.[1];
}

/** Removes the problems that another problem has caused. */
export function withoutConsequences(problems: readonly NormalizedProblem[]): NormalizedProblem[] {
  const explained = new Set(problems.filter(({ ruleId }) => EXPLAINING_RULES.has(ruleId)).map((one) => placeOf(one)));
  const byHolder = Map.groupBy(problems.map(readProblem), ({ holder }) => holder);
  const isExplained = (problem: NormalizedProblem) =>
    explained.has(placeOf(problem)) || explained.has(placeOf(problem, pathIn(problem).slice(0, -1)));
  return [...byHolder.values()].flatMap((there) => {
    const suggested = new Set(
      there.flatMap(({ unexpected, problem }) => (unexpected === undefined ? [] : problem.suggest)),
    );
    const hasEmpty = there.some(({ isEmpty }) => isEmpty);
    const isCaused = ({ problem, unexpected, missing }: Found) =>
      (unexpected !== undefined && (hasEmpty || isExplained(problem))) ||
      missing?.some((name) => suggested.has(name) || (name === 'schema' && explained.has(placeOf(problem))));
    return there.filter((found) => !isCaused(found)).map(({ problem }) => problem);
  });
}

function readProblem(problem: NormalizedProblem): Found {
  const { message, ruleId } = problem;
  const path = pathIn(problem);
  const unexpected = ruleId === 'struct' ? unexpectedIn(message) : undefined;
  const missing =
    /^The field `([^`]*)` must be present/.exec(message)?.[1] ??
    /^Must contain at least one of the following fields: (.*?)\.?$/.exec(message)?.[1];
  const isEmpty = ruleId === 'struct' && isAboutNothing(message);
  const holder = unexpected !== undefined || isEmpty ? path.slice(0, -1) : path;
  return { problem, holder: JSON.stringify(holder), unexpected, missing: missing?.split(', '), isEmpty };
}

/** Returns the file and the place of a problem as one text. @param path the place, or one around it */
function placeOf(problem: NormalizedProblem, path = pathIn(problem)): string {
  return JSON.stringify([problem.location[0]?.source.absoluteRef, ...path]);
}

/** Returns the place of a problem in its file. A missing member has the place of the object, or its own. */
export function pathIn({ location: [location] }: NormalizedProblem): string[] {
  return location && 'pointer' in location ? pathOf((location.pointer ?? '').replace(/^#/, '')) : [];
}
