// The difference of two texts, line by line, as people read it.

import { structuredPatch } from 'diff';

/** Most changed lines that are compared: the time of a comparison grows with their square. */
const CHANGES_MAX = 600;
const CONTEXT_LINES = 3;

/**
 * @returns lines that begin with `+`, `-`, a blank, or `@` where lines are left out; undefined if too much differs
 */
export function lineDiff(before: string, after: string): string[] | undefined {
  const options = { context: CONTEXT_LINES, maxEditLength: CHANGES_MAX };
  const patch = structuredPatch('', '', before, after, undefined, undefined, options);
  return patch?.hunks.flatMap(({ newStart, lines }) => [
    `@ line ${newStart}`,
    ...lines.filter((line) => !line.startsWith('\\')),
  ]);
}
