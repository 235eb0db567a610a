import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { faultInJson, faultInUtf8 } from '../../../gateway/contract/json-fault.ts';

test('the fault is where no JSON can go on', () => {
  // A number or a word that is not finished is wrong from its beginning.
  for (const [before, after] of [
    ['', ''],
    ['  ', ''],
    ['', '\ufeff{}'],
    ['', 'NaN'],
    ['{', "'a':1}"],
    ['{"a":1,', '}'],
    ['{"a":1 ', '"b":2}'],
    ['{"a"', '=1}'],
    ['{"a":', 'undefined}'],
    ['{"a":1', ']'],
    ['{', '1:2}'],
    ['[1,', ']'],
    ['[1', '}'],
    ['0', '1'],
    ['1', '.'],
    ['{"name":"a"', '/**/}'],
    ['{"name":"a"} ', '{}'],
    ['"a', '\tb"'],
    ['"a', '\\x"'],
    ['"a', '\\u12"'],
    ['"a\\\\\\"', ''],
    ['"a', ''],
  ] as const)
    assert.equal(faultInJson(before + after), before.length, before + after);
  for (const text of ['-', 'tru', '[nul]', '[1e]'])
    assert.ok(faultInJson(text) < 3, `${text}: a number or a word that is not finished is wrong from its beginning`);
});

test('JSON has no fault, and what is put into it has one there or before, whatever the nesting', () => {
  const deep = '['.repeat(200_000);
  assert.equal(faultInJson(`${deep}}`), deep.length);
  assert.equal(faultInJson(`${deep}${']'.repeat(200_000)}`), 400_000);
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, place) => {
      assert.equal(faultInJson(text), text.length);
      const at = place % (text.length + 1);
      const fault = faultInJson(`${text.slice(0, at)}\0${text.slice(at)}`);
      assert.ok(fault <= at);
      assert.doesNotMatch(
        text.slice(fault, at),
        /["[\]{},:\s]/,
        'only a number or a word begins before what breaks it',
      );
    }),
  );
});

test('the first byte that is not UTF-8 is found, also behind characters that stand for such bytes', () => {
  const bytes = (...parts: (string | number)[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))));
  assert.equal(faultInUtf8(bytes('"', 0xff, '"')), 1);
  assert.equal(faultInUtf8(bytes('ä\ufffd', 0xc0, 0x80)), 5);
  assert.equal(faultInUtf8(bytes('\ufffd\ufffd', 0xed, 0xa0, 0x80)), 6);
  assert.equal(faultInUtf8(bytes('€', 0xe2, 0x82)), 3);
  assert.equal(faultInUtf8(bytes('\ufeffä😀\ufffd')), 12);
});
