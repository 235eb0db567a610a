import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseIdempotencyKey } from '../../../gateway/shared/http/idempotency-key.ts';

/** RFC 9651 section 4.1.6. */
const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

test('quoted and bare are two spellings of one key', () => {
  assert.equal(parseIdempotencyKey('8e03978e-40d5-43e8-bc93-6894a57f9324'), '8e03978e-40d5-43e8-bc93-6894a57f9324');
  assert.equal(parseIdempotencyKey('"8e03978e-40d5"'), parseIdempotencyKey('8e03978e-40d5'));
  assert.equal(parseIdempotencyKey('"a\\"b\\\\c"'), 'a"b\\c');
});

test('every visible text of bounded length is a key, however it is spelled', () => {
  const texts = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) });
  fc.assert(
    fc.property(texts, (text) => {
      const expected = text.length === 0 || text.length > 255 ? undefined : text;
      assert.equal(parseIdempotencyKey(quoted(text)), expected);
      if (!text.startsWith('"')) assert.equal(parseIdempotencyKey(text), expected);
    }),
  );
});

test('every other text is refused', () => {
  const wrong = ['', '""', '"', '"a', '"a"b"', '"a\\"', '"a\\b"', 'a b', '"a b"', 'a\tb', 'ä', 'a, b', '"a", "b"'];
  for (const header of [...wrong, 'k'.repeat(256)]) assert.equal(parseIdempotencyKey(header), undefined, header);
});
