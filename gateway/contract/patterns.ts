// Makes regular expressions from contracts safe to run on hostile input: patterns that could take long run on a linear-time engine.

import { RE2JS } from 're2js';
import { endOfAtom, endOfGroupHead, type PatternShape, shapeOfPattern } from './pattern-shape.ts';

export interface Pattern {
  readonly engine: 'native' | 'linear' | 'bounded' | 'widened';
  /** Texts up to this length are checked exactly, longer ones may be checked approximately. */
  readonly exactLength: number;
  test(text: string): boolean;
  exec(text: string): unknown;
  /** Returns the source text: Ajv keeps one pattern per such text. */
  toString(): string;
}

/** Maximum number of steps of the native engine for one match. */
const STEPS_MAX = 1_000_000;
const CHOICES_MAX = 16;
/** Maximum number of steps for all matches of one check, because a body may hold thousands of texts. */
const STEPS_PER_CHECK_MAX = 20_000_000;

/**
 * Chooses the engine for a pattern. The native engine, the fastest, runs patterns whose shape guarantees linear time. RE2 runs all
 * others that it supports, in linear time. It does not support look-around and back references: patterns with these run natively on
 * short text, unless they nest repetitions, and otherwise on RE2 without those parts. That check admits more than the contract says,
 * so the upstream decides about such values. Throws SyntaxError if the pattern is not a regular expression or cannot run safely.
 */
export function toPattern(written: string, flags = 'u'): Pattern {
  const source = withAnchors(written);
  const native = nativePattern(source, flags);
  const shape = shapeOfPattern(source);
  if (isLinear(shape)) return pattern('native', source, withinStack(native));
  const exact = linearTest(source);
  if (exact) return pattern('linear', source, exact);
  const wider = linearTest(widened(source));
  if (!shape.nested) {
    const lengthMax = shortEnough(shape);
    const longer = wider ?? (() => false);
    const steps = stepsOf(shape);
    const test = (text: string) => (text.length <= lengthMax && spend(steps(text)) ? native.test(text) : longer(text));
    return pattern('bounded', source, test, lengthMax);
  }
  if (wider) return pattern('widened', source, wider, 0);
  throw new SyntaxError(`the pattern ${source} could take exponential time`);
}

/** Other languages write the beginning and the end of a text as `\A`, `\Z` and `\z`, which ECMA-262 does not have. */
function withAnchors(written: string): string {
  if (!/\\[AZz]/.test(written)) return written;
  let source = '';
  for (let i = 0; i < written.length; ) {
    const end = endOfAtom(written, i);
    const atom = written.slice(i, end);
    source += atom === '\\A' ? '^' : /^\\[Zz]$/.test(atom) ? '$' : atom;
    i = end;
  }
  return source;
}

function pattern(
  engine: Pattern['engine'],
  source: string,
  test: (text: string) => boolean,
  exactLength = Number.POSITIVE_INFINITY,
): Pattern {
  return { engine, exactLength, test, exec: (text) => (test(text) ? [text] : null), toString: () => source };
}

/** A very long text can exceed the stack of the engine; it counts as not matching. */
function withinStack(native: RegExp): (text: string) => boolean {
  return (text) => {
    try {
      return native.test(text);
    } catch {
      return false;
    }
  };
}

/**
 * The remaining steps of the current check, for texts on which the native engine could take long. A module variable suffices, because
 * a check is synchronous.
 */
let stepsLeft = STEPS_PER_CHECK_MAX;

/** Resets the step budget at the beginning of a check. */
export function renewStepBudget(): void {
  stepsLeft = STEPS_PER_CHECK_MAX;
}

function spend(steps: number): boolean {
  stepsLeft -= steps;
  return stepsLeft >= 0;
}

/**
 * ECMA-262 requires the flag `u`, but many published contracts escape characters that `u` does not allow. Those patterns run without
 * it.
 */
function nativePattern(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch {
    return new RegExp(source, flags.replace('u', ''));
  }
}

function isLinear({ nested, unbounded, choices, anchored }: PatternShape): boolean {
  const tries = unbounded + (anchored ? 0 : 1);
  return !nested && tries <= 1 && choices <= (tries === 0 ? STEPS_MAX / 100 : CHOICES_MAX);
}

function shortEnough(shape: PatternShape): number {
  return Math.min(512, Math.floor((STEPS_MAX / shape.choices) ** (1 / powerOf(shape))));
}

/** Worst-case number of steps for a text. */
function stepsOf(shape: PatternShape): (text: string) => number {
  const power = powerOf(shape);
  return ({ length }) => shape.choices * length ** power;
}

function powerOf({ unbounded, anchored }: PatternShape): number {
  return Math.max(1, unbounded + (anchored ? 0 : 1));
}

function linearTest(source: string): ((text: string) => boolean) | undefined {
  try {
    const compiled = RE2JS.compile(spelledForRe2(source));
    return (text) => compiled.test(text);
  } catch {
    return undefined;
  }
}

/** Rewrites `\u00e9` and `\u{1f600}` as `\x{…}` and `[^]` as a class, because RE2 does not know these spellings. */
function spelledForRe2(source: string): string {
  return source
    .replace(/\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|.)/gis, (written, braced?: string, four?: string) =>
      braced || four ? `\\x{${braced ?? four}}` : written,
    )
    .replaceAll('[^]', '[\\s\\S]');
}

/** Returns the pattern without look-around, with `[\s\S]*` for back references, and without upper bounds that are too large for RE2. */
function widened(source: string): string {
  let kept = '';
  for (let i = 0; i < source.length; ) {
    const around = /^\(\?<?[=!]/.test(source.slice(i, i + 4));
    const end = around ? endOfGroup(source, i) : endOfAtom(source, i);
    const written = source.slice(i, end);
    if (!around) kept += /^\\[1-9k]/.test(written) ? '[\\s\\S]*' : written;
    i = end;
  }
  return kept.replace(/(\[\\s\\S\]\*)(<[^>]*>|[*+?]|\{\d+,?\d*\})/g, '$1').replace(/\{(\d+),\d{4,}\}/g, '{$1,}');
}

function endOfGroup(source: string, start: number): number {
  let depth = 1;
  let i = endOfGroupHead(source, start);
  while (i < source.length && depth > 0) {
    if (source[i] === '(') depth++;
    if (source[i] === ')') depth--;
    i = endOfAtom(source, i);
  }
  return i;
}
