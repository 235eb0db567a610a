// Finds the path that a client probably meant, for route_not_found: one word of the path is misspelt, or the version is missing.

import type { Operation } from '../../exchange/operation.ts';
import { type Routes, segmentsOf } from './routes.ts';

const SEGMENTS_MAX = 8;
const WORD_MAX = 32;

/** Returns the template of the near path; undefined if no path is near. `segments` are percent-decoded. */
export type NearPath = (segments: readonly string[]) => string | undefined;

/**
 * Prepares the words of all paths. A look-up takes no comparison with each word: two words are near if they are equal after the removal of
 * one letter in each, at most. It does at most 33 look-ups for each of 8 segments.
 */
export function createNearPaths(operations: readonly Operation[], routes: Routes): NearPath {
  const near = nearWords(operations.flatMap(({ path }) => segmentsOf(path)));
  const versions = [...new Set(operations.flatMap(({ version }) => version ?? []))];

  function* candidates(segments: readonly string[]): Iterable<readonly string[]> {
    for (const [at, segment] of segments.entries()) for (const word of near(segment)) yield segments.with(at, word);
    for (const version of versions) yield [version, ...segments];
  }

  return function nearPath(segments) {
    if (segments.length > SEGMENTS_MAX) return undefined;
    for (const candidate of candidates(segments)) {
      const found = routes.pathOf(candidate);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

function nearWords(words: readonly string[]): (word: string) => Iterable<string> {
  const byForm = new Map<string, string[]>();
  for (const word of new Set(words)) {
    if (word.includes('{') || word.length > WORD_MAX) continue;
    for (const form of formsOf(word)) {
      const alike = byForm.get(form);
      if (alike === undefined) byForm.set(form, [word]);
      else if (alike.at(-1) !== word) alike.push(word);
    }
  }
  return (word) => {
    if (word.length > WORD_MAX) return [];
    return new Set(formsOf(word).flatMap((form) => byForm.get(form) ?? []));
  };
}

/** The word in lower case, itself and without each of its letters. Shorter words than three letters have no near words. */
function formsOf(word: string): string[] {
  const lower = word.toLowerCase();
  if (lower.length < 3) return [lower];
  return [lower, ...Array.from(lower, (_, at) => lower.slice(0, at) + lower.slice(at + 1))];
}
