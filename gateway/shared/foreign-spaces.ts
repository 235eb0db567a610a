// Explains spaces other than that of ASCII where YAML expects indentation. An editor shows them as spaces, and YAML takes them for text.

import type { Explanation } from './yaml-indentation.ts';

const SPACES = '[\\u00a0\\u1680\\u2000-\\u200b\\u202f\\u205f\\u3000]';
const NAMES: Readonly<Record<string, string>> = { '\u00a0': 'no-break space', '\u200b': 'zero-width space' };
/** At the beginning of a line, behind its dashes, or behind its key. */
const IN_LINE = new RegExp(`^ *(?:- *)*(?:[\\w.$/{}"'-]+:)?(${SPACES})`, 'dgm');
const ANY = new RegExp(SPACES);
const FIRST = new RegExp(`^-?(${SPACES})`);
const LAST = new RegExp(`${SPACES}$`);
/** The parser notices a wrong indentation some lines behind it. */
const LINES_MAX = 3;

/** Explains the last such space before the end of the line of an error; undefined if none is near. */
export function foreignSpaceBefore(text: string, from: number): Explanation | undefined {
  const before = `${text.slice(0, from)}${text.slice(from).split('\n', 1)[0]}`;
  const last = [...before.matchAll(IN_LINE)].at(-1);
  const offset = last?.indices?.[1]?.[0];
  if (offset === undefined || before.slice(offset).split('\n').length > LINES_MAX) return undefined;
  return explanationOf(before.charAt(offset), offset);
}

/** Whether a text has such a space anywhere. */
export function hasForeignSpace(text: string): boolean {
  return ANY.test(text);
}

/** Explains such a space at an end of a text without quotes; undefined if there is none. @param offset of the text */
export function foreignSpaceIn(plain: string, offset: number): Explanation | undefined {
  const [all = '', first] = FIRST.exec(plain) ?? [];
  const at = first === undefined ? plain.search(LAST) : all.length - 1;
  return at === -1 ? undefined : explanationOf(plain.charAt(at), offset + at);
}

function explanationOf(space: string, offset: number): Explanation {
  const code = `U+${space.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  const reason = `there is a ${NAMES[space] ?? 'foreign space'} (${code}), which YAML takes for text.`;
  return { offset, reason, remedy: 'Write an ordinary space in its place.' };
}
