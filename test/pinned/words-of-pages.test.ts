// Pages for clients have the words of the field: response, field, error, retry. CONTRIBUTING.md has the list.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { REFUSALS } from '../../gateway/catalogue/errors.ts';

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

/** The nouns: a service answers, and people are members of a team. */
const OTHER_NOUNS =
  /\b(an|the|its|this|first|stored|error|valid|usable) answers?\b|\b(every|a|the|optional|missing|new) members?\b/i;
const CONTRACTS = new URL('../../openapi/', import.meta.url);

test('the texts of the shipped contracts say response and field', () => {
  const files = readdirSync(CONTRACTS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));
  assert.ok(files.length > 10);
  const lines = files.flatMap((name) => readFileSync(new URL(name, CONTRACTS), 'utf8').split('\n'));
  assert.deepEqual(
    lines.filter((line) => OTHER_NOUNS.test(line)),
    [],
  );
});

test('the texts of the error catalogue say response and field', () => {
  const texts = Object.values(REFUSALS).flatMap(({ message, meaning, remedy }) => [message, meaning, remedy]);
  assert.deepEqual(
    texts.filter((text) => OTHER_NOUNS.test(text)),
    [],
  );
});
