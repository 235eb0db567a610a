// The catalogue of refusals, the tests that produce them and the page that explains them say the same.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { REFUSALS, type Refusal } from '../../gateway/errors.ts';
import { EXPLANATIONS } from '../../gateway/portal/explanations.ts';
import { producedCodes } from '../flow/errors/produced.ts';

const rows = Object.entries<Refusal>(REFUSALS);
const retry = { true: 'yes', false: 'no', if_safe: 'if safe' };

/** One row of docs/errors.md: | `code` | status | type | meaning | retry | */
const documented = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the catalogue', () => {
  it('has no row that no test produces', () => {
    assert.deepEqual(
      rows.map(([code]) => code).filter((code) => !(producedCodes as ReadonlySet<string>).has(code)),
      [],
    );
  });

  it('is docs/errors.md, row by row: code, status, type, and whether to try again', () => {
    assert.deepEqual(
      documented.map(([, code, status, type, , again]) => [code, status, type, again]),
      rows.map(([code, { status, type, retryable }]) => [
        `\`${code}\``,
        String(status),
        type,
        retry[String(retryable) as keyof typeof retry],
      ]),
    );
  });

  it('has a meaning and a remedy for every row, and docs/errors.md says the same', () => {
    const published = Object.entries(EXPLANATIONS);
    assert.deepEqual(
      documented.map(([, code, , , meaning]) => [
        code,
        meaning?.replace('(idempotency.md)', '(/docs/guides/idempotency)'),
      ]),
      published.map(([code, { meaning }]) => [`\`${code}\``, meaning]),
    );
    for (const [code, { meaning, remedy }] of published) {
      assert.match(meaning, /^[`A-Z].{12,}\.$/, code);
      assert.match(remedy, /^[`A-Z].{12,}\.$/, code);
    }
  });

  for (const [code, { status, message, challenge }] of rows) {
    it(`keeps its own rules: ${code}`, () => {
      assert.match(code, /^[a-z][a-z_]{1,63}$/);
      assert.match(message, /^[A-Z][ -~]*[.?]$/, 'sentences in ASCII, since they go into a header as well');
      assert.equal(status === 401, challenge === 'bare' || challenge === 'invalid_token');
    });
  }
});
