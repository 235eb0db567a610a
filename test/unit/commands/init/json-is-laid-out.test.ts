// JSON on one line becomes lines, with every value as it was written; JSON of several lines stays as it is.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { laidOutJson } from '../../../../gateway/commands/init/fetch-document.ts';

it('is what JSON.stringify writes, for any value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(laidOutJson(JSON.stringify(value)), `${JSON.stringify(value, null, 2)}\n`);
    }),
  );
});

it('keeps long numbers, escapes and brackets in texts', () => {
  const text = '{"max":9223372036854775807,"a":[ 1.50,"\\"]},:" ],"b":{ } }';
  const lines = [
    '{',
    '  "max": 9223372036854775807,',
    '  "a": [',
    '    1.50,',
    '    "\\"]},:"',
    '  ],',
    '  "b": {}',
    '}',
    '',
  ];
  assert.equal(laidOutJson(text), lines.join('\n'));
});

it('leaves lines as they are', () => {
  const text = '{\n "a" : 1 }';
  assert.equal(laidOutJson(text), text);
});
