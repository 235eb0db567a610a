// Regular expressions from contracts, made safe to run on hostile input: those that could take exponential time go to a linear-time engine.

import { RE2JS } from 're2js';

export interface Pattern {
  test(text: string): boolean;
  exec(text: string): unknown;
}

const BACKTRACKING_INPUT_MAX = 512;

/**
 * The engine for one pattern. A pattern whose repetitions are not nested takes at most polynomial time and runs natively (fastest);
 * a repetition inside a repetition, or alternatives under one, runs on RE2 (linear time); what RE2 cannot express
 * (look-around, back references) runs natively on bounded input and refuses longer text.
 * Throws SyntaxError when the pattern is not a regular expression.
 */
export function toPattern(source: string, flags = 'u'): Pattern {
  const native = nativePattern(source, flags);
  if (!mayExplode(source)) return native;
  try {
    const linear = RE2JS.compile(source);
    return {
      test: (text) => linear.matcher(text).find(),
      exec: (text) => (linear.matcher(text).find() ? [text] : null),
    };
  } catch {
    const bounded = (text: string) => text.length <= BACKTRACKING_INPUT_MAX && native.test(text);
    return { test: bounded, exec: (text) => (bounded(text) ? [text] : null) };
  }
}

/** ECMA 262 says `u`, but many published documents escape characters that `u` does not allow; those are taken without it. */
function nativePattern(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch {
    return new RegExp(source, flags.replace('u', ''));
  }
}

/** Whether a quantified group holds another unbounded quantifier or an alternative, the two shapes of exponential backtracking. */
export function mayExplode(source: string): boolean {
  const groups: { unbounded: boolean; alternative: boolean }[] = [{ unbounded: false, alternative: false }];
  for (let i = 0; i < source.length; i++) {
    const character = source[i] as string;
    const group = groups.at(-1) as { unbounded: boolean; alternative: boolean };
    if (character === '\\') {
      if (/[1-9k]/.test(source[i + 1] ?? '')) return true;
      i++;
    } else if (character === '[') {
      i = endOfClass(source, i);
    } else if (character === '(') {
      groups.push({ unbounded: false, alternative: false });
    } else if (character === '|') {
      group.alternative = true;
    } else if (character === ')') {
      if (groups.length > 1) groups.pop();
      const parent = groups.at(-1) as { unbounded: boolean; alternative: boolean };
      if (isUnboundedQuantifier(source, i + 1) && (group.unbounded || group.alternative)) return true;
      parent.unbounded ||= group.unbounded;
    } else if (isUnboundedQuantifier(source, i)) {
      group.unbounded = true;
    }
  }
  return false;
}

function endOfClass(source: string, start: number): number {
  for (let i = start + 1; i < source.length; i++) {
    if (source[i] === '\\') i++;
    else if (source[i] === ']') return i;
  }
  return source.length;
}

/** `*`, `+`, `{n,}`, and counts so large that they are as good as unbounded. */
function isUnboundedQuantifier(source: string, at: number): boolean {
  const character = source[at];
  if (character === '*' || character === '+') return true;
  const count = character === '{' ? /^\{(\d+)(,(\d*))?\}/.exec(source.slice(at, at + 24)) : null;
  if (!count) return false;
  return count[2] !== undefined && (count[3] === '' || Number(count[3]) > 32);
}
