// Mistakes in a configuration or contract, each with place, reason and remedy. All mistakes are collected and reported together.

import { visibleLine } from './text.ts';

export interface Mistake {
  /** Path relative to the working directory. */
  readonly file: string;
  /** 1-based; absent when the mistake is about the whole file. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The place inside the file, such as `upstreams.platform.live`. */
  readonly place?: string | undefined;
  readonly reason: string;
  /** One sentence: what to do. */
  readonly remedy: string;
  /** The files are correct and the next start accepts them, but the running gateway cannot apply them. */
  readonly needsRestart?: true;
  /** Set for a warning about an operation or a service that refuses every request. */
  readonly refusesAll?: true;
  /**
   * The operations and rules of the entries under `breaking` that accept the change; undefined if the mistake is not a breaking change.
   */
  readonly decisions?: readonly { readonly operation: string; readonly rule: string }[];
}

/** Thrown by start, check and reload, so that the gateway does not start, or keeps the configuration in force. */
export class ConfigError extends Error {
  readonly mistakes: readonly Mistake[];
  /** Warnings about files that have mistakes, because they may name the cause. */
  readonly warnings: readonly Mistake[];

  constructor(mistakes: readonly Mistake[], warnings: readonly Mistake[] = []) {
    super(mistakes.map(toSentence).join('\n'));
    this.name = 'ConfigError';
    this.mistakes = mistakes;
    this.warnings = warnings;
  }
}

/** Returns a sentence such as `config/limits.yaml:7:5: tiers.gold: 0 is not possible here. It must be …` */
export function toSentence(mistake: Mistake): string {
  const at = [mistake.file, mistake.line, mistake.column].filter((part) => part !== undefined).join(':');
  // A name in a document may contain line breaks, which would split the message into several lines.
  return visibleLine([at, mistake.place, `${mistake.reason} ${mistake.remedy}`].filter(Boolean).join(': '));
}

const ALIKE_MAX = 5;
/** From so many mistakes on that have the same remedy too, the first stands for all. */
const SAME_MIN = 3;
const LINES_MAX = 10;

/**
 * Removes duplicates. Of mistakes of one file with the same reason and remedy, keeps the first, which names the places of the others. Of
 * many with the same reason and different remedies, keeps the first few and the number of the others.
 */
export function condense(mistakes: readonly Mistake[]): Mistake[] {
  const distinct = new Map(mistakes.map((mistake) => [toSentence(mistake), mistake]));
  const groups = Map.groupBy(distinct.values(), ({ file, reason }) => `${file}\n${reason}`);
  return [...groups.values()].flatMap((alike) => {
    const [first, ...others] = alike as [Mistake, ...Mistake[]];
    if (alike.length >= SAME_MIN && others.every(({ remedy }) => remedy === first.remedy))
      return [{ ...first, remedy: `${first.remedy} ${placesOf(others)}` }];
    if (others.length < ALIKE_MAX) return alike;
    const more = others.length + 1 - ALIKE_MAX;
    const rest = {
      file: first.file,
      reason: `the same mistake occurs in ${more} more places.`,
      remedy: 'Correct them in the same way.',
      ...(first.refusesAll && { refusesAll: first.refusesAll }),
    };
    return [...alike.slice(0, ALIKE_MAX), rest];
  });
}

/** Returns how many more places have the same mistake, and their lines. */
function placesOf(others: readonly Mistake[]): string {
  const lines = [...new Set(others.flatMap(({ line }) => line ?? []))];
  const shown = lines.length === 0 ? '' : `: line ${lines.slice(0, LINES_MAX).join(', ')}`;
  return `The same mistake is in ${others.length} more places${shown}${lines.length > LINES_MAX ? ', …' : ''}.`;
}

/** Returns the remedy for an unknown name: the most similar known name, a known name that is a part of it, or all known names. */
export function suggest(name: string, known: Iterable<string>): string {
  const names = [...known].sort();
  const likely = closest(name, names) ?? partIn(name, names);
  if (likely !== undefined) return `Did you mean "${likely}"?`;
  if (names.length === 0) return 'None is defined.';
  const shown = names.slice(0, 12).join(', ');
  return `Use one of: ${shown}${names.length > 12 ? ', …' : ''}.`;
}

/** An operation that a file may name by its method and path in place of its name. */
interface Suggestible {
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

/** Returns the remedy for an unknown operation. */
export function suggestOperation(name: string, operations: readonly Suggestible[]): string {
  const lineOf = (text: string) =>
    text
      .trim()
      .replaceAll(/\{[^}]*\}/g, '{}')
      .toLowerCase();
  const meant = operations.find(({ method, path }) => lineOf(`${method} ${path}`) === lineOf(name));
  const names = new Set(operations.map((one) => one.name));
  return meant === undefined ? suggest(name, names) : `Did you mean "${meant.name}"?`;
}

/** Shorter names are in many others by chance. */
const PART_MIN = 4;

/** Returns the longest known name that is a part of `name`, such as `limit` in `rateLimit`, or of which `name` is a part. */
function partIn(name: string, known: readonly string[]): string | undefined {
  const written = name.toLowerCase();
  const isPart = (part: string, whole: string) => part.length >= PART_MIN && whole.includes(part);
  return known
    .filter((one) => isPart(one.toLowerCase(), written) || isPart(written, one.toLowerCase()))
    .sort((a, b) => b.length - a.length)[0];
}

/**
 * Returns the known name that is most similar to `name`, in capitals or small letters; undefined if none is similar enough for a
 * misspelling. Of names that are equally similar it returns the longest, because letters are more often left out than exchanged.
 */
export function closest(
  name: string,
  known: readonly string[],
  editsMax = Math.max(2, Math.floor(name.length / 3)),
): string | undefined {
  const best = known
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance || b.candidate.length - a.candidate.length)[0];
  return best && best.distance <= editsMax ? best.candidate : undefined;
}

/** Counts insertions, deletions, substitutions, and transpositions of two neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const transposition = isSwapped ? (beforePrevious[j - 2] as number) + 1 : substitution;
      current.push(Math.min(substitution, transposition, (previous[j] as number) + 1, (current[j - 1] as number) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] as number;
}
