// The published pattern of `Idempotency-Key` is the check: it lets through what the gateway takes, and nothing else.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { parseIdempotencyKey } from '../../../gateway/shared/http/idempotency-key.ts';

const common = parse(readFileSync(new URL('../../../openapi/v1/common.yaml', import.meta.url), 'utf8'));
const { pattern, minLength, maxLength } = common.components.parameters.IdempotencyKey.schema;
const published = new RegExp(pattern, 'u');
const matches = (text: string) => text.length >= minLength && text.length <= maxLength && published.test(text);
const agree = (text: string) =>
  assert.equal(matches(text), parseIdempotencyKey(text) !== undefined, JSON.stringify(text));

it('agrees about the edges', () => {
  const most = 'a'.repeat(255);
  for (const text of [
    '',
    'a',
    most,
    `${most}a`,
    '"',
    '""',
    '"a"',
    `"${most}"`,
    `"${most}a"`,
    '"a',
    'a"',
    'a"b',
    '"a"b',
    '"a"b"',
  ])
    agree(text);
  for (const text of [
    '"\\""',
    '"\\\\"',
    '"\\"',
    '"\\a"',
    '"a\\',
    `"${'\\"'.repeat(255)}"`,
    `"${'\\"'.repeat(256)}"`,
    'a\\b',
    '" "',
    'a b',
  ])
    agree(text);
  for (const text of ['\u007f', '~', '!', '"~"', '"!"', 'é', '"é"', 'a\n', '"a"\n', ' a']) agree(text);
});

it('agrees about any text', () => {
  const character = fc.constantFrom('"', '\\', 'a', '~', '!', ' ', '\u007f', 'é', '[', ']', '#', '\n');
  fc.assert(fc.property(fc.string({ unit: character, maxLength: 8 }), agree), { numRuns: 5000 });
});
