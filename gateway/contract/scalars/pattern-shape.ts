// Estimates the worst-case cost of a regular expression from its text, by the number of start positions and the work at each.

export interface PatternShape {
  /** Whether a repetition contains an expression that can itself match in several ways, which takes exponential time. */
  readonly nested: boolean;
  /** Number of repetitions that are unbounded or nearly so. Each multiplies the time by the length of the text. */
  readonly unbounded: number;
  /** Product of the number of ways in which the bounded parts can match. */
  readonly choices: number;
  /** The least number of characters that one way compares. For example, `(?:ab){3}c` compares seven. */
  readonly length: number;
  /** Whether it can match only at the beginning of the text. */
  readonly anchored: boolean;
}

interface Group {
  alternatives: number;
  /** Whether a part of the expression can match in several ways. */
  varies: boolean;
  length: number;
}

const AS_GOOD_AS_UNBOUNDED = 256;

const emptyGroup = (): Group => ({ alternatives: 1, varies: false, length: 0 });

/** Reads a pattern from left to right. The estimate may be too high, never too low. */
export function shapeOfPattern(source: string): PatternShape {
  const groups = [emptyGroup()];
  let nested = false;
  let unbounded = 0;
  let choices = 1;
  let after = 0;

  function quantify(at: number, inner: Group | undefined): number {
    const { min, max, length } = quantifierAt(source, at);
    const outer = groups.at(-1) as Group;
    outer.length += (inner?.length ?? 1) * Math.max(1, min);
    if (inner?.varies && max > 1) nested = true;
    if (max - min >= AS_GOOD_AS_UNBOUNDED) unbounded++;
    else choices *= max - min + 1;
    if (max !== min) outer.varies = true;
    return at + length;
  }

  while (after < source.length) {
    const character = source[after] as string;
    const group = groups.at(-1) as Group;
    if (character === '(') {
      groups.push(emptyGroup());
      after = endOfGroupHead(source, after);
    } else if (character === '|') {
      group.alternatives++;
      group.varies = true;
      after++;
    } else if (character === ')') {
      if (groups.length > 1) groups.pop();
      choices *= group.alternatives;
      (groups.at(-1) as Group).varies ||= group.varies;
      after = quantify(after + 1, group);
    } else {
      // A back reference can match text of any length.
      if (character === '\\' && /[1-9k]/.test(source[after + 1] ?? '')) nested = true;
      after = quantify(endOfAtom(source, after), undefined);
    }
  }
  const { alternatives, length } = groups[0] as Group;
  const anchored = source.startsWith('^') && alternatives === 1;
  return { nested, unbounded, choices: choices * alternatives, length, anchored };
}

/** Returns the offset after `(`, `(?:`, `(?=`, `(?<!` or `(?<name>`. */
export function endOfGroupHead(source: string, start: number): number {
  return start + (/^\((\?([:=!]|<[=!]|<[^>]*>))?/.exec(source.slice(start, start + 80))?.[0].length ?? 1);
}

/** Returns the offset after one escape, character class or character. */
export function endOfAtom(source: string, start: number): number {
  if (source[start] === '\\') return start + 2;
  if (source[start] !== '[') return start + 1;
  for (let i = start + 1; i < source.length; i++) {
    if (source[i] === '\\') i++;
    else if (source[i] === ']') return i + 1;
  }
  return source.length;
}

/** Returns how often the atom before an offset is repeated, and the length of the quantifier; 0 if there is no quantifier. */
export function quantifierAt(source: string, at: number): { min: number; max: number; length: number } {
  const [written, , min, range, max] = /^([*+?]|\{(\d+)(,(\d*))?\})\??/.exec(source.slice(at, at + 24)) ?? [];
  if (written === undefined) return { min: 1, max: 1, length: 0 };
  const { length } = written;
  if (written[0] === '?') return { min: 0, max: 1, length };
  if (min === undefined) return { min: written[0] === '+' ? 1 : 0, max: Infinity, length };
  return { min: Number(min), max: range === undefined ? Number(min) : max === '' ? Infinity : Number(max), length };
}
