// The names of fields in lower case: what is remembered of earlier spellings changes none of them.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fieldNameOf } from '../../../gateway/http1/field-names.ts';

it('every spelling has its lower-case name, also when more came than are remembered', () => {
  const spellings = [
    'Date',
    'date',
    'DATE',
    '__proto__',
    'Constructor',
    `X-${'A'.repeat(100)}`,
    "!#$%&'*+-.^_`|~09AZaz",
  ];
  for (let index = 0; index < 2000; index += 1) spellings.push(`X-Name-${index}`);
  for (const spelling of [...spellings, ...spellings]) assert.equal(fieldNameOf(spelling), spelling.toLowerCase());
});
