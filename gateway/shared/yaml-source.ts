// Reads a YAML file with the position of each value, so that every mistake names its line.

import { type Document, isCollection, isMap, isPair, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { shownPath, textOf } from './file-text.ts';
import { foreignSpaceIn } from './foreign-spaces.ts';
import type { Mistake } from './mistakes.ts';
import { entryMeant, meantEntry, NO_SECRET_ENTRY } from './secret-names.ts';
import { withoutCredentials } from './text.ts';
import { withoutValues } from './variable-values.ts';
import { explainAlias, explainErrors } from './yaml-errors.ts';
import type { Explanation } from './yaml-indentation.ts';

export type Path = readonly (string | number)[];

export interface Source {
  readonly file: string;
  /** The value; undefined if the file cannot be used, null for an empty file. */
  readonly value: unknown;
  /** Returns a text without credentials and without the values of variables, which may be secrets. */
  masked(text: string): string;
  /** Returns a mistake at the value of `path`, or at the nearest existing place around it. */
  mistakeAt(path: Path, reason: string, remedy: string): Mistake;
  /** Returns a mistake at the key of `path`. */
  mistakeAtKey(path: Path, reason: string, remedy: string): Mistake;
}

/** The value at a path, or its key. */
export interface Spot {
  readonly path: Path;
  readonly isKey: boolean;
}

/** 1-based; absent in a file that cannot be parsed. */
export interface Position {
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Values have the types of JSON, and keys are texts. A date or a list as a key would surprise the author. */
const READING = { uniqueKeys: true, prettyErrors: false, resolveKnownTags: false, stringKeys: true } as const;

/**
 * Reads and parses one YAML (or JSON) file. With an environment, `${NAME}` in a string stands for a variable, which must be set, and the
 * file may be a pipe, because the operator has named it. Pushes mistakes and never throws.
 */
export function readSource(file: string, mistakes: Mistake[], environment?: Environment): Source {
  const shownAs = shownPath(file);
  const read = textOf(file, environment !== undefined);
  if (typeof read !== 'string') {
    mistakes.push({ file: shownAs, ...read });
    return emptySource(shownAs);
  }
  const text = read;
  const lines = new LineCounter();
  const document = parseDocument(text, { ...READING, lineCounter: lines });
  const at = (offset: number | undefined) => {
    if (offset === undefined) return { line: undefined, column: undefined };
    const position = lines.linePos(offset);
    return { line: position.line, column: position.col };
  };
  for (const { offset, reason, remedy } of explainErrors(document.errors, text))
    mistakes.push({ file: shownAs, ...at(offset), reason, remedy });
  if (document.errors.length > 0) return emptySource(shownAs);
  for (const { code, pos } of document.warnings) {
    if (code !== 'TAG_RESOLVE_FAILED') continue;
    const reason = `the tag ${text.slice(pos[0], pos[1])} means nothing here.`;
    mistakes.push({ file: shownAs, ...at(pos[0]), reason, remedy: 'Remove it, and write a plain value.' });
  }
  const foreign = foreignSpacesIn(document);
  for (const { offset, reason, remedy } of foreign) mistakes.push({ file: shownAs, ...at(offset), reason, remedy });
  if (foreign.length > 0) return emptySource(shownAs);
  const expanded = environment
    ? substitute(document, environment, (offset, reason, remedy) =>
        mistakes.push({ file: shownAs, ...at(offset), reason, remedy }),
      )
    : { values: new Map(), inKeys: new Map() };
  const masked = (text: string) => withoutCredentials(withoutValues(text, expanded.values));
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    mistakes.push({ file: shownAs, ...at(aliasIn(document)), ...explainAlias(error as Error) });
    return emptySource(shownAs);
  }
  const mistake = (offset: number | undefined, path: Path, reason: string, remedy: string) => ({
    file: shownAs,
    ...at(offset),
    ...(path.length > 0 ? { place: withoutCredentials(withoutValues(path.join('.'), expanded.inKeys)) } : {}),
    reason: masked(reason),
    remedy: masked(remedy),
  });
  return {
    file: shownAs,
    value,
    masked,
    mistakeAt: (path, reason, remedy) => mistake(offsetOf(document, path), path, reason, remedy),
    mistakeAtKey: (path, reason, remedy) =>
      mistake(keyOffset(document, path) ?? offsetOf(document, path), path, reason, remedy),
  };
}

/** Keys of texts in which such a space is only text. */
const FOR_PEOPLE = /^(description|summary|title|example|value)$/;

function foreignSpacesIn(document: Document): Explanation[] {
  const found: (Explanation | undefined)[] = [];
  visit(document, {
    Scalar(part, { type, value, range }, holders) {
      const pair = holders.at(-1);
      const isForPeople = part === 'value' && isPair(pair) && FOR_PEOPLE.test(String(pair.key));
      if (type === 'PLAIN' && typeof value === 'string' && !isForPeople)
        found.push(foreignSpaceIn(value, range?.[0] ?? 0));
    },
  });
  return found.flatMap((one) => one ?? []);
}

/** Returns the offset of the first alias, at which an author may have meant a text that begins with an asterisk. */
function aliasIn(document: Document): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Alias(_, node) {
      offset = node.range?.[0];
      return node.resolve(document) === undefined ? visit.BREAK : undefined;
    },
  });
  return offset;
}

/** Returns the mistakes for which a text cannot be parsed. @param shownAs the name of its file, or its URL */
export function syntaxMistakes(text: string, shownAs: string): Mistake[] {
  const lines = new LineCounter();
  const { errors } = parseDocument(text, { ...READING, lineCounter: lines });
  return explainErrors(errors, text).map(({ offset, reason, remedy }) => {
    const { line, col } = offset === undefined ? {} : lines.linePos(offset);
    return { file: shownAs, line, column: col, reason, remedy };
  });
}

/** Returns positions of values and keys. Parses the file, which takes two seconds for 13 MB. */
export function positionsIn(file: string, spots: readonly Spot[]): Position[] {
  const { mistakeAt, mistakeAtKey } = readSource(file, []);
  return spots.map(({ path, isKey }) => {
    const { line, column } = (isKey ? mistakeAtKey : mistakeAt)(path, '', '');
    return { line, column };
  });
}

/** Returns the offset of a scalar, of the key of any other value, or of the surrounding key for a missing value. */
function offsetOf(document: Document, path: Path): number | undefined {
  const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true);
  if (isScalar(node) && node.range) return node.range[0];
  const key = keyOffset(document, path);
  if (key !== undefined) return key;
  if (isCollection(node) && node.range) return node.range[0];
  return path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1));
}

function keyOffset(document: Document, path: Path): number | undefined {
  if (path.length === 0) return undefined;
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1)));
  return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
}

/**
 * Replaces variables. A plain `${NAME}` may become a number or a boolean, as if its value were written in the file. Refuses a variable
 * where the name of a secrets entry belongs, because its value would be the secret itself.
 *
 * @returns the values with the names of their variables, and those of them that are in keys
 */
function substitute(
  document: Document,
  environment: Environment,
  complain: (offset: number | undefined, reason: string, remedy: string) => void,
): Readonly<Record<'values' | 'inKeys', Map<string, string>>> {
  const [values, inKeys] = [new Map<string, string>(), new Map<string, string>()];
  visit(document, {
    Scalar(part, node, holders) {
      if (typeof node.value !== 'string' || !node.value.includes('${')) return;
      const pair = holders.at(-1);
      const secret =
        part === 'value' && isPair(pair) && /^(secret|headersSecret)$/.test(String(pair.key)) && entryMeant(node.value);
      if (secret) {
        complain(node.range?.[0], NO_SECRET_ENTRY, meantEntry(secret));
        return;
      }
      const text = node.value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (written, name: string) => {
        const set = environment[name];
        if (set !== undefined) {
          values.set(set, written);
          if (part === 'key') inKeys.set(set, written);
          return set;
        }
        const remedy = `Set ${name}, or write the value here in place of ${written}.`;
        complain(node.range?.[0], `the environment variable ${name} is not set.`, remedy);
        return written;
      });
      node.value = node.type === 'PLAIN' && /^(0|[1-9]\d{0,14}|true|false)$/.test(text) ? JSON.parse(text) : text;
    },
  });
  return { values, inKeys };
}

function emptySource(file: string): Source {
  const mistake = (path: Path, reason: string, remedy: string) => ({
    file,
    ...(path.length > 0 ? { place: path.join('.') } : {}),
    reason,
    remedy,
  });
  return { file, value: undefined, masked: withoutCredentials, mistakeAt: mistake, mistakeAtKey: mistake };
}
