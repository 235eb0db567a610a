// Derives the lengths of the texts that fit a plain regular expression.

import { endOfAtom, quantifierAt } from './pattern-shape.ts';

/** Groups, alternatives, back references, and escapes that are longer than two characters or stand for a place. */
const NOT_PLAIN = /(?<!\\)(?:\\\\)*(?:[(|]|\\[bBkpPuxc0-9])/;

/** Returns the least and the largest number of characters; undefined for a pattern that is not a plain sequence in ASCII. */
export function lengthsOfPattern(source: string): { readonly min: number; readonly max: number } | undefined {
  if (NOT_PLAIN.test(source) || !/^[ -~]*$/.test(source)) return undefined;
  const begins = source.startsWith('^');
  const ends = /(?<!\\)(?:\\\\)*\$$/.test(source);
  const body = source.slice(begins ? 1 : 0, ends ? -1 : undefined);
  let [min, max] = [0, begins && ends ? 0 : Infinity];
  for (let at = 0; at < body.length; ) {
    // An anchor inside matches no text, or needs rules for lines.
    if ('^$'.includes(body[at] as string)) return undefined;
    const end = endOfAtom(body, at);
    const quantifier = quantifierAt(body, end);
    min += quantifier.min;
    max += quantifier.max;
    at = end + quantifier.length;
  }
  return { min, max };
}
