// Strings of any characters for property tests.

import fc from 'fast-check';

const SURROGATES_FROM = 0xd800;
const SURROGATES = 0x800;

/**
 * Every code point but surrogates, as `unit: 'binary'` of fast-check gives them. That one lists a million of them first, which takes half
 * a second and memory that each later garbage collection goes through.
 */
export const anyCharacter = fc.nat(0x10_ff_ff - SURROGATES).map(
  (index) => String.fromCodePoint(index < SURROGATES_FROM ? index : index + SURROGATES),
  (character) => {
    const isOne = typeof character === 'string' && /^.$/su.test(character) && character.isWellFormed();
    const code = isOne ? character.codePointAt(0) : undefined;
    if (code === undefined) throw new Error('This is not one character.');
    return code < SURROGATES_FROM ? code : code - SURROGATES;
  },
);
