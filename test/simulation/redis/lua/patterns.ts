// Patterns of Lua as regular expressions.

import { LuaError } from './values.ts';

const CLASSES: Readonly<Record<string, string>> = {
  a: 'A-Za-z',
  d: '0-9',
  l: 'a-z',
  s: ' \\t\\n\\v\\f\\r',
  u: 'A-Z',
  w: 'A-Za-z0-9',
  x: '0-9A-Fa-f',
};
const known = new Map<string, Expression>();

export interface Expression {
  readonly regexp: RegExp;
  /** Which captures are positions, counted from 1. */
  readonly positions: ReadonlySet<number>;
}

/** Throws at what the scripts of the gateway do not use: balanced pairs, references to captures. */
export function expressionOf(pattern: string): Expression {
  let expression = known.get(pattern);
  if (expression === undefined) {
    const { text, positions } = translated(pattern);
    expression = { regexp: new RegExp(text, 'ds'), positions };
    known.set(pattern, expression);
  }
  return expression;
}

function translated(pattern: string): { readonly text: string; readonly positions: ReadonlySet<number> } {
  let text = '';
  let captures = 0;
  const positions = new Set<number>();
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] as string;
    if (character === '%') {
      at += 1;
      text += classOf(pattern[at] as string);
    } else if (character === '[') {
      const end = pattern.indexOf(']', at + 2);
      text += setOf(pattern.slice(at + 1, end));
      at = end;
    } else if (character === '-') text += '*?';
    else if (character === '^' ? at > 0 : character === '$' && at < pattern.length - 1) text += `\\${character}`;
    else if (character === '(') {
      captures += 1;
      if (pattern[at + 1] === ')') positions.add(captures);
      text += character;
    } else text += /[\\{}|/]/.test(character) ? `\\${character}` : character;
  }
  return { text, positions };
}

function classOf(letter: string): string {
  const members = CLASSES[letter.toLowerCase()];
  if (members === undefined) {
    if (/\w/.test(letter)) throw new LuaError(`no pattern item %${letter}`);
    return `\\${letter}`;
  }
  return letter === letter.toLowerCase() ? `[${members}]` : `[^${members}]`;
}

function setOf(members: string): string {
  return `[${members.replace(/%(.)/g, (_, letter: string) => CLASSES[letter] ?? `\\${letter}`)}]`;
}
