// The names of fields in lower case: neither earlier spellings nor the order of earlier lines change any of them.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FieldSpelling, fieldNameAt } from '../../../gateway/http1/field-names.ts';

const first = new FieldSpelling('');

function namesIn(spellings: readonly string[]): string[] {
  const text = spellings.map((spelling) => `${spelling}: v\r\n`).join('');
  let before = first;
  let at = 0;
  return spellings.map((spelling) => {
    before = fieldNameAt(text, at, before);
    assert.equal(before.start, `${spelling}:`);
    at += spelling.length + ': v\r\n'.length;
    return before.lowerCase;
  });
}

it('every line has the lower-case name of its spelling, in any order', () => {
  const some = ['Date', 'date', 'DATE', 'Date', 'X', 'X-A', 'X-a', '__proto__', 'Constructor', "!#$%&'*+-.^_`|~09AZaz"];
  const orders = [
    some,
    some.toReversed(),
    some.toSorted(),
    [...some, ...some],
    some.slice(3),
    ['X-A', 'X', 'X-', 'X-AA'],
  ];
  for (const order of [...orders, ...orders])
    assert.deepEqual(
      namesIn(order),
      order.map((spelling) => spelling.toLowerCase()),
    );
});

it('also when there are more than are remembered, and when one is long', () => {
  const many = Array.from({ length: 2000 }, (_, index) => `X-Name-${index}`);
  for (const spellings of [many, [...many, `X-${'A'.repeat(100)}`, 'Date'], many.toReversed(), many])
    assert.deepEqual(
      namesIn(spellings),
      spellings.map((spelling) => spelling.toLowerCase()),
    );
});
