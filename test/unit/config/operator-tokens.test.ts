import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorTokensIn } from '../../../gateway/config/secrets/operator-tokens.ts';

const TOKEN = 'x'.repeat(16);

test('each line names an operator, what it may do, and its token', () => {
  const text = `\n# of the platform team\r\nanna act ${TOKEN}1\nbob.b-2  look ${TOKEN}2  \n`;
  assert.deepEqual(operatorTokensIn(text), [
    { name: 'anna', role: 'act', token: `${TOKEN}1` },
    { name: 'bob.b-2', role: 'look', token: `${TOKEN}2` },
  ]);
  assert.deepEqual(operatorTokensIn(''), []);
});

test('a line that cannot be used is named by its number, without its token', () => {
  const rows: [text: string, says: RegExp][] = [
    ['anna', /^Line 1 .* is not "<name>/],
    [`anna ${TOKEN}`, /^Line 1 .* is not "<name>/],
    [`\nanna act ${TOKEN} more`, /^Line 2 /],
    [`Anna act ${TOKEN}`, /has a name of other characters/],
    [`admin_token act ${TOKEN}`, /has a name of other characters/],
    [`${'a'.repeat(33)} act ${TOKEN}`, /more than 32/],
    [`anna admin ${TOKEN}`, /neither look nor act/],
    ['anna act short', /fewer than 16/],
    [`anna act ${TOKEN}\u00e9`, /visible ASCII/],
    [`anna act ${TOKEN}\nanna look ${TOKEN}1`, /^Line 2 .* a name that an earlier/],
    [`anna act ${TOKEN}\nbob look ${TOKEN}`, /^Line 2 .* a token that an earlier/],
    [Array.from({ length: 201 }, (_, index) => `a${index} look ${TOKEN}${index}`).join('\n'), /more than 200/],
  ];
  for (const [text, says] of rows) {
    const problem = operatorTokensIn(text);
    assert.ok(typeof problem === 'string' && says.test(problem) && !problem.includes(TOKEN), `${text}: ${problem}`);
  }
});
