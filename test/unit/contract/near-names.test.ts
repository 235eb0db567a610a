// A query parameter that is misspelt gets the declared name, in a bounded number of steps.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LocatedValue } from '../../../gateway/contract/pointer.ts';
import { createNearNames } from '../../../gateway/contract/violations/near-names.ts';
import type { Violation } from '../../../gateway/contract/violations/violations.ts';

const LONG = 'l'.repeat(41);
const parameters = [
  ...['limit', 'page', 'q', LONG].map((name) => ({ in: 'query', name })),
  { in: 'header', name: 'secret' },
].map((value) => ({ value }) as unknown as LocatedValue);
const withNearNames = createNearNames({ parameters });
const unknown = (param: string, place: Violation['in'] = 'query'): Violation => ({
  in: place,
  param,
  code: 'unknown',
  message: 'Is not known here.',
});
const hintsFor = (violations: readonly Violation[]) =>
  withNearNames(violations).map(({ message }) => /Did you mean "(.*)"\?$/.exec(message)?.[1]);

it('names query parameters that differ in one or two letters', () => {
  assert.deepEqual(hintsFor([unknown('limt'), unknown('offset'), unknown('pgae')]), ['limit', undefined, 'page']);
  assert.deepEqual(hintsFor([unknown('secrt'), unknown('limt', 'body'), unknown('ab')]), [
    undefined,
    undefined,
    undefined,
  ]);
});

it('says nothing of long names, of members, and of more than three', () => {
  assert.deepEqual(hintsFor([unknown(LONG.slice(1)), unknown('page.x'), unknown(`${LONG}l`)]), [
    undefined,
    undefined,
    undefined,
  ]);
  assert.equal(hintsFor(Array(9).fill(unknown('limt'))).filter((hint) => hint !== undefined).length, 3);
});
