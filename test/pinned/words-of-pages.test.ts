// Pages for clients have the words of the field: response, field, error, retry. CONTRIBUTING.md has the list.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const GUIDES = new URL('../../docs/guides/', import.meta.url);
const OTHER_WORDS = /\b(answers?|members?|refusals?)\b/i;

const guides = readdirSync(GUIDES).filter((name) => name.endsWith('.md'));
assert.ok(guides.length > 5);

for (const name of guides)
  test(`the guide ${name} says response, field and error`, () => {
    const lines = readFileSync(new URL(name, GUIDES), 'utf8').split('\n');
    assert.deepEqual(
      lines.filter((line) => OTHER_WORDS.test(line)),
      [],
    );
  });
