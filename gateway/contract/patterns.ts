// Regular expressions from contracts, made safe to run on hostile input: what could take long goes to a linear-time engine.

import { RE2JS } from 're2js';
import { endOfAtom, endOfGroupHead, type PatternShape, shapeOfPattern } from './pattern-shape.ts';

export interface Pattern {
  readonly engine: 'native' | 'linear' | 'bounded' | 'widened';
  /** Texts up to this length are checked exactly. */
  readonly exactLength: number;
  test(text: string): boolean;
  exec(text: string): unknown;
  /** Ajv keeps one engine per text that this gives. */
  toString(): string;
}

/** Steps of the native engine that one match may take. */
const STEPS_MAX = 1_000_000;
const CHOICES_MAX = 16;
/** And all matches of one check, since a body may hold thousands of texts. */
const STEPS_PER_CHECK_MAX = 20_000_000;

/**
 * The engine for one pattern: native, the fastest, where the time is linear in the text by the pattern's shape; else RE2, which is
 * linear for every pattern; and for what RE2 cannot express (look-around, back references) native on text that is short enough, and
 * RE2 without those parts on longer text. That check admits more than the contract says, which the upstream still has the say over.
 * Throws SyntaxError when the pattern is not a regular expression, or cannot be run safely at all.
 */
export function toPattern(source: string, flags = 'u'): Pattern {
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

function pattern(
  engine: Pattern['engine'],
  source: string,
  test: (text: string) => boolean,
  exactLength = Number.POSITIVE_INFINITY,
): Pattern {
  return { engine, exactLength, test, exec: (text) => (test(text) ? [text] : null), toString: () => source };
}

/** A text of many megabytes can exceed the stack of the engine: it does not match then. */
function withinStack(native: RegExp): (text: string) => boolean {
  return (text) => {
    try {
      return native.test(text);
    } catch {
      return false;
    }
  };
}

/** What one check, which is synchronous, may still spend on texts that the native engine could take long for. */
let stepsLeft = STEPS_PER_CHECK_MAX;

/** A check begins: it has the whole budget. */
export function renewSteps(): void {
  stepsLeft = STEPS_PER_CHECK_MAX;
}

function spend(steps: number): boolean {
  stepsLeft -= steps;
  return stepsLeft >= 0;
}

/** ECMA 262 says `u`, but many published documents escape characters that `u` does not allow; those are taken without it. */
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

/** At worst, for a text. */
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

/** `\u00e9` and `\u{1f600}` are `\x{…}` there, and `[^]` is a class it does not know. */
function spelledForRe2(source: string): string {
  return source
    .replace(/\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|.)/gis, (written, braced?: string, four?: string) =>
      braced || four ? `\\x{${braced ?? four}}` : written,
    )
    .replaceAll('[^]', '[\\s\\S]');
}

/** The pattern without look-around, with anything in place of back references, and without bounds that RE2 does not count to. */
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
