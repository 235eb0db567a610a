// A YAML file that remembers where each value stands, so that every mistake can be named with its line.

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { type Document, isCollection, isMap, isScalar, LineCounter, type Pair, parseDocument, visit } from 'yaml';
import type { Mistake } from './mistakes.ts';

export type Path = readonly (string | number)[];

export interface Source {
  readonly file: string;
  readonly value: unknown;
  /** A mistake at the value of `path`, or at the nearest ancestor that exists. */
  mistakeAt(path: Path, reason: string, remedy: string): Mistake;
  /** A mistake at the key itself. */
  mistakeAtKey(path: Path, reason: string, remedy: string): Mistake;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A path as the operator would type it: relative inside the working directory, absolute elsewhere. */
export function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') || path === '' ? file : path;
}

/**
 * Reads and parses one YAML (or JSON) file. With an environment, `${NAME}` in a string stands for a variable, which must be set.
 * Mistakes are pushed, never thrown; the value is `undefined` when there is none to use.
 */
export function readSource(file: string, mistakes: Mistake[], environment?: Environment): Source {
  const shownAs = shownPath(file);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'the file does not exist.' : 'the file cannot be read.';
    mistakes.push({ file: shownAs, reason, remedy: 'Create it, or correct the path that names it.' });
    return emptySource(shownAs);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const at = (offset: number | undefined) => {
    if (offset === undefined) return { line: undefined, column: undefined };
    const position = lines.linePos(offset);
    return { line: position.line, column: position.col };
  };
  for (const problem of document.errors) {
    mistakes.push({
      file: shownAs,
      ...at(problem.pos[0]),
      reason: `this is not well-formed YAML (${problem.message}).`,
      remedy: 'Check the indentation, quotes and duplicate keys around this line.',
    });
  }
  if (document.errors.length > 0) return emptySource(shownAs);

  if (environment) {
    substitute(document, environment, (offset, reason, remedy) =>
      mistakes.push({ file: shownAs, ...at(offset), reason, remedy }),
    );
  }

  const place = (path: Path) => path.join('.');
  return {
    file: shownAs,
    value: document.toJS() as unknown,
    mistakeAt(path, reason, remedy) {
      for (let depth = path.length; depth >= 0; depth--) {
        const node: unknown = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true);
        if ((isScalar(node) || isCollection(node)) && node.range) {
          return { file: shownAs, ...at(node.range[0]), place: place(path), reason, remedy };
        }
      }
      return { file: shownAs, place: place(path), reason, remedy };
    },
    mistakeAtKey(path, reason, remedy) {
      const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
      const pair = isMap(parent)
        ? parent.items.find((item: Pair) => isScalar(item.key) && String(item.key.value) === String(path.at(-1)))
        : undefined;
      const key = pair?.key;
      const offset = isScalar(key) ? key.range?.[0] : undefined;
      return { file: shownAs, ...at(offset), place: place(path), reason, remedy };
    },
  };
}

function substitute(
  document: Document,
  environment: Environment,
  complain: (offset: number | undefined, reason: string, remedy: string) => void,
): void {
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== 'string') return;
      node.value = node.value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (written, name: string) => {
        const set = environment[name];
        if (set !== undefined) return set;
        const remedy = `Set ${name}, or write the value here in place of ${written}.`;
        complain(node.range?.[0], `the environment variable ${name} is not set.`, remedy);
        return written;
      });
    },
  });
}

function emptySource(file: string): Source {
  const mistake = (path: Path, reason: string, remedy: string) => ({ file, place: path.join('.'), reason, remedy });
  return { file, value: undefined, mistakeAt: mistake, mistakeAtKey: mistake };
}
