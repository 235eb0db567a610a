// Reads contract files: parses, lints against the OpenAPI specification, resolves references between files. Boot and check only.

import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, createConfig, getLineColLocation, lint, type NormalizedProblem } from '@redocly/openapi-core';
import type { Mistake } from '../mistakes.ts';
import { readSource, type Source, shownPath } from '../source.ts';

export type JsonObject = Record<string, unknown>;

/** One OpenAPI document, references between files resolved; those inside it are kept, so that schemas may be circular. */
export interface ContractDocument {
  /** As messages name it. */
  readonly file: string;
  readonly root: JsonObject;
  /** Positions in the file, parsed only when a mistake has to be named. */
  position(): Source;
}

// Redocly is used for what it knows best, whether a document is OpenAPI 3.0, 3.1 or 3.2 at all. Matters of style are not ours to refuse.
const rules = { struct: 'error', 'no-unresolved-refs': 'error', 'path-parameters-defined': 'error' } as const;

/** The files that a list of globs names, below a directory; without duplicates, in a stable order. */
export function contractFiles(directory: string, glob: string): string[] {
  return globSync(glob, { cwd: directory })
    .filter((file) => /\.(ya?ml|json)$/.test(file))
    .map((file) => join(directory, file))
    .sort();
}

/**
 * Reads one contract. Returns `undefined` after a mistake, and for a file without paths: it is there to be referred to.
 */
export async function readContract(file: string, mistakes: Mistake[]): Promise<ContractDocument | undefined> {
  const shown = shownPath(file);
  if (!existsSync(file)) {
    mistakes.push({
      file: shown,
      reason: 'the file does not exist.',
      remedy: 'Create it, or correct the path that names it.',
    });
    return undefined;
  }
  const config = await createConfig({ rules });
  let root: unknown;
  let problems: NormalizedProblem[];
  try {
    const bundled = await bundle({ ref: file, config });
    root = bundled.bundle.parsed;
    if (isPart(root)) return undefined;
    problems = [...(await lint({ ref: file, config })), ...bundled.problems];
  } catch (error) {
    mistakes.push(unreadable(file, error));
    return undefined;
  }
  const found = distinct(
    problems.filter((problem) => problem.severity === 'error').map((problem) => toMistake(problem, shown)),
  );
  mistakes.push(...found);
  if (found.length > 0 || !('paths' in (root as JsonObject))) return undefined;
  let source: Source | undefined;
  return {
    file: shown,
    root: root as JsonObject,
    position() {
      source ??= readSource(file, []);
      return source;
    },
  };
}

/** No document of its own, but something that documents refer to. */
function isPart(root: unknown): boolean {
  return (
    typeof root === 'object' && root !== null && !('openapi' in root) && !('paths' in root) && !('swagger' in root)
  );
}

function toMistake(problem: NormalizedProblem, shown: string): Mistake {
  const location = problem.location[0];
  const at = location ? getLineColLocation(location) : undefined;
  const file = location ? shownPath(location.source.absoluteRef) : shown;
  const pointer = location && 'pointer' in location ? location.pointer?.replace(/^#\/?/, '') : undefined;
  return {
    file,
    line: at?.start.line,
    column: at?.start.col,
    ...(pointer ? { place: pointer } : {}),
    reason: `${problem.message.replace(/\s+/g, ' ').replace(/\.$/, '')}.`,
    remedy: remedyFor(problem),
  };
}

function remedyFor(problem: NormalizedProblem): string {
  if (problem.suggest.length > 0) return `Did you mean ${problem.suggest.map((name) => `"${name}"`).join(' or ')}?`;
  if (problem.ruleId === 'no-unresolved-refs') return 'Point the $ref at something that exists.';
  if (problem.ruleId === 'path-parameters-defined')
    return 'Make the parameters in the path and those declared the same.';
  return 'Make the document valid OpenAPI 3.0 or 3.1 at this place.';
}

/** A file that does not even parse: Redocly throws, our own reader says where. */
function unreadable(file: string, error: unknown): Mistake {
  const own: Mistake[] = [];
  readSource(file, own);
  const first = own[0];
  if (first) return first;
  const reason = error instanceof Error ? error.message.split('\n')[0] : 'unknown error';
  return {
    file: shownPath(file),
    reason: `this is not an OpenAPI document (${reason}).`,
    remedy: 'Begin it with "openapi: 3.1.1", info and paths.',
  };
}

function distinct(mistakes: readonly Mistake[]): Mistake[] {
  const seen = new Map(mistakes.map((mistake) => [`${mistake.file}:${mistake.line}:${mistake.reason}`, mistake]));
  return [...seen.values()];
}
