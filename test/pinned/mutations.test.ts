// Each mutation of the simulation still fits the source: its text is there once.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MUTATIONS } from '../simulation/mutations/list.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

it('the text that a mutation changes is in its file once', () => {
  assert.ok(MUTATIONS.length >= 25);
  for (const { defect, file, before, after } of MUTATIONS) {
    assert.equal(readFileSync(root + file, 'utf8').split(before).length, 2, `${defect} (${file})`);
    assert.notEqual(before, after);
  }
});
