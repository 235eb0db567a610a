// Every refusal of the catalogue is produced by a test, and its texts keep their form.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { CatalogueEntry } from '../../gateway/catalogue/catalogue-entry.ts';
import { REFUSALS } from '../../gateway/catalogue/errors.ts';
import { producedCodes } from '../flow/errors/produced.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const rows = Object.entries<CatalogueEntry>(REFUSALS);

describe('the catalogue', () => {
  it('has no row that no test produces', () => {
    assert.deepEqual(
      rows.map(([code]) => code).filter((code) => !(producedCodes as ReadonlySet<string>).has(code)),
      [],
    );
  });

  it('has every code that contracts and documents link to', () => {
    const files = globSync(['openapi/**/*.yaml', 'docs/**/*.md'], { cwd: root }).map((path) => join(root, path));
    const linked = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\/docs\/errors\/([a-z_]+)/g)]);
    assert.ok(linked.length > 20);
    assert.deepEqual(
      linked.map(([, code = '']) => code).filter((code) => !(code in REFUSALS)),
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
