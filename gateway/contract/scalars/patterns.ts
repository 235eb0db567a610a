// Makes regular expressions from contracts safe to run on hostile input. Patterns that could take long run on a linear-time engine.

import { RE2JS } from 're2js';
import { memoize } from '../../shared/memoize.ts';
import { takeSteps } from '../schemas/check-scope.ts';
import { endOfAtom, endOfGroupHead, type PatternShape, shapeOfPattern } from './pattern-shape.ts';

export interface Pattern {
  readonly engine: 'native' | 'linear' | 'bounded' | 'widened';
  /** Texts up to this length are checked exactly; longer texts may be checked approximately. */
  readonly exactLength: number;
  test(text: string): boolean;
  exec(text: string): unknown;
  /** Returns the source text, because Ajv keeps one pattern per source text. */
  toString(): string;
}

/**
 * Maximum number of patterns in the cache. The contracts of a platform repeat a few dozen patterns in all operations, and each pattern is
 * needed when a contract is linted, compiled and sampled. Compiling them each time took a fifth of a start.
 */
const KEPT_MAX = 1000;

/** Maximum number of comparisons of the native engine for one match. */
const COMPARISONS_MAX = 1_000_000;
const CHOICES_MAX = 16;
/** Comparisons of the native engine that take as long as one step of the budget. */
const COMPARISONS_PER_STEP = 4;

/** Steps that RE2 takes for a character in a state that it knows. */
const STEPS_PER_CHARACTER = 8;
/**
 * Steps that RE2 takes for each instruction of a new state. If RE2 makes no more states, it takes these steps for each instruction and
 * character.
 */
const STEPS_PER_INSTRUCTION = 20;

/**
 * Chooses the engine for a pattern. The native engine, the fastest, runs patterns whose shape guarantees linear time. RE2 runs all others
 * that it supports, in linear time. RE2 does not support look-around and back references. Patterns with these run natively on short text,
 * unless they nest repetitions, and otherwise on RE2 without those parts. The check on RE2 admits more values than the contract, so the
 * upstream decides about such values. Throws SyntaxError if the pattern is not a regular expression or cannot run safely. Testing a text
 * spends steps, and throws request_too_complex beyond the budget. The same text always gives the same pattern.
 */
export const toPattern: (written: string) => Pattern = memoize(makePattern, KEPT_MAX);

function makePattern(written: string): Pattern {
  const source = withAnchors(written);
  const shape = shapeOfPattern(source);
  const native = nativeTest(nativePattern(source), shape);
  if (isLinear(shape)) return pattern('native', source, withinStack(cheaperTest(source, shape, native)));
  const exact = linearTest(source);
  if (exact) return pattern('linear', source, exact);
  const wider = linearTest(widenPattern(source));
  if (!shape.nested) {
    const lengthMax = shortEnough(shape);
    const longer = wider ?? (() => false);
    return pattern('bounded', source, (text) => (text.length <= lengthMax ? native(text) : longer(text)), lengthMax);
  }
  if (wider) return pattern('widened', source, wider, 0);
  throw new SyntaxError(`the pattern ${source} could take exponential time`);
}

/** Replaces `\A`, `\Z` and `\z`, which mean the beginning and the end of a text in other languages, and do not exist in ECMA-262. */
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

/** Makes a test return false if a very long text exceeds the stack of the engine. */
function withinStack(test: (text: string) => boolean): (text: string) => boolean {
  return (text) => {
    try {
      return test(text);
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  };
}

/** Returns the maximum number of steps of the native engine for a text. */
function stepsOf({ unbounded, anchored, choices, length }: PatternShape, text: string): number {
  const places = text.length ** (unbounded + (anchored ? 0 : 1));
  // A part that matches in a hundred ways does so only in a text of that length.
  const ways = Math.min(choices, (text.length + 1) ** 2);
  return 1 + (places * ways * Math.max(1, length)) / COMPARISONS_PER_STEP;
}

/** Creates a test on the native engine. The test spends the steps before it runs, because the engine cannot be interrupted. */
function nativeTest(native: RegExp, shape: PatternShape): (text: string) => boolean {
  return (text) => {
    takeSteps(stepsOf(shape, text));
    return native.test(text);
  };
}

/** Creates a test that uses RE2 for long texts, because a large fixed count multiplies the steps at each place of a text. */
function cheaperTest(
  source: string,
  shape: PatternShape,
  native: (text: string) => boolean,
): (text: string) => boolean {
  let linear: ((text: string) => boolean) | undefined;
  // RE2 makes a state for each place in the pattern, of up to that many instructions.
  const statesSteps = (STEPS_PER_INSTRUCTION / 2) * shape.length ** 2;
  return (text) => {
    if (stepsOf(shape, text) <= statesSteps + STEPS_PER_CHARACTER * text.length) return native(text);
    linear ??= linearTest(source) ?? native;
    return linear(text);
  };
}

/**
 * Compiles a pattern for the native engine. The flag `u` is required, but many published contracts escape characters that `u` does not
 * allow. Those patterns run without it.
 */
function nativePattern(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}

function isLinear({ nested, unbounded, choices, length, anchored }: PatternShape): boolean {
  const tries = unbounded + (anchored ? 0 : 1);
  if (tries === 0) return !nested && choices <= COMPARISONS_MAX / 100 && choices * length <= COMPARISONS_MAX;
  return !nested && tries === 1 && choices <= CHOICES_MAX;
}

function shortEnough(shape: PatternShape): number {
  const power = Math.max(1, shape.unbounded + (shape.anchored ? 0 : 1));
  const ways = shape.choices * Math.max(1, shape.length / CHOICES_MAX);
  return Math.min(512, Math.floor((COMPARISONS_MAX / ways) ** (1 / power)));
}

function linearTest(source: string): ((text: string) => boolean) | undefined {
  try {
    const compiled = RE2JS.compile(spelledForRe2(source));
    countStates(compiled);
    return (text) => {
      takeSteps(4 + STEPS_PER_CHARACTER * text.length);
      return compiled.test(text);
    };
  } catch {
    return undefined;
  }
}

/**
 * Makes RE2 spend steps for new states. RE2 makes the states of its automaton while it reads a text. This takes a thousand times as long as
 * a step in known states, and RE2 gives up if there are too many states. Some texts of 100 kB take seconds.
 */
function countStates(compiled: RE2JS): void {
  const re2 = compiled.re2();
  const { dfa } = re2;
  const makeState: typeof dfa.makeState = dfa.makeState.bind(dfa);
  const simulate: typeof re2.doExecuteNFA = re2.doExecuteNFA.bind(re2);
  dfa.makeState = (instructions, flag, ids) => {
    takeSteps(STEPS_PER_INSTRUCTION * (8 + instructions.length));
    return makeState(instructions, flag, ids);
  };
  re2.doExecuteNFA = (input, ...rest) => {
    takeSteps(STEPS_PER_INSTRUCTION * re2.numberOfInstructions() * input.endPos());
    return simulate(input, ...rest);
  };
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
function widenPattern(source: string): string {
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
