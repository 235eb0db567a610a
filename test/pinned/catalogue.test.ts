// Every refusal of the catalogue is produced by a test, and its texts keep their form.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REFUSALS, type Refusal } from '../../gateway/error-catalogue.ts';
import { producedCodes } from '../flow/errors/produced.ts';

const rows = Object.entries<Refusal>(REFUSALS);

describe('the catalogue', () => {
  it('has no row that no test produces', () => {
    assert.deepEqual(
      rows.map(([code]) => code).filter((code) => !(producedCodes as ReadonlySet<string>).has(code)),
      [],
    );
  });

  for (const [code, { status, message, meaning, remedy, challenge }] of rows) {
    it(`keeps its own rules: ${code}`, () => {
      assert.match(code, /^[a-z][a-z_]{1,63}$/);
      assert.match(message, /^[A-Z][ -~]*[.?]$/, 'sentences in ASCII, since they go into a header as well');
      for (const text of [meaning, remedy]) assert.match(text, /^[`A-Z][^\n|]{12,}\.$/, 'one line, without a bar');
      assert.equal(status === 401, challenge === 'bare' || challenge === 'invalid_token');
    });
  }
});
