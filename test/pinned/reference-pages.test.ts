// The reference pages and the JSON Schemas agree with the code: schemas, catalogue, metrics and commands.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileOf, generatedPages } from '../../tools/docs/pages.ts';
import { fill, table } from '../../tools/docs/table.ts';

describe('reference pages', () => {
  it('are as the script writes them', async () => {
    const stale = [...(await generatedPages())].filter(([path, text]) => readFileSync(fileOf(path), 'utf8') !== text);
    assert.deepEqual(
      stale.map(([path]) => path),
      [],
      'A generated file differs from the code. Run "npm run docs".',
    );
  });

  const page = 'Before.\n\n<!-- generated: one -->\nold\n<!-- end -->\n\nAfter.\n';

  it('keep the prose around the generated parts', () => {
    assert.equal(fill(page, { one: 'new' }), 'Before.\n\n<!-- generated: one -->\n\nnew\n\n<!-- end -->\n\nAfter.\n');
  });

  it('cannot have a place without a text, or a text without a place', () => {
    assert.throws(() => fill(page, {}), /no text for "one"/);
    assert.throws(() => fill(page, { one: '', two: '' }), /no place for two/);
  });

  it('escape the character that separates cells', () => {
    assert.equal(table(['a'], [['b | c']]), '| a      |\n| ------ |\n| b \\| c |');
  });
});
