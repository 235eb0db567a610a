import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonFaultAt, scanJson } from '../../../gateway/shared/json-scanner.ts';

test('the fault is at the first character that no JSON can have', () => {
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
    assert.equal(scanJson(before + after), before.length, before + after);
  for (const text of ['-', 'tru', '[nul]', '[1e]'])
    assert.ok(
      (scanJson(text) ?? 3) < 3,
      `${text}: a number or a word that is not finished is wrong from its beginning`,
    );
});

test('JSON has no fault, and a foreign byte has one there or before, at any nesting', () => {
  const deep = '['.repeat(200_000);
  assert.equal(scanJson(`${deep}}`), deep.length);
  assert.equal(scanJson(`${deep}${']'.repeat(200_000)}`), undefined);
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, place) => {
      assert.equal(scanJson(text), undefined);
      const at = place % (text.length + 1);
      const fault = scanJson(`${text.slice(0, at)}\0${text.slice(at)}`) ?? text.length + 1;
      assert.ok(fault <= at);
      assert.doesNotMatch(
        text.slice(fault, at),
        /["[\]{},:\s]/,
        'only a number or a word begins before the byte that breaks it',
      );
    }),
  );
});

test('accepts the texts that JSON.parse accepts, and no others', () => {
  const piece = fc.constantFrom(
    ...'{}[],:"\\/u01-+.eE \n\t\0',
    'null',
    'true',
    '"a"',
    '\\u00e9',
    '"a":',
    '[1',
    '{"b":2',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      assert.equal(scanJson(text) === undefined, isAccepted(text), JSON.stringify(text));
    }),
    { numRuns: 20_000 },
  );
});

function isAccepted(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('the first byte that is not UTF-8 is found, also behind characters that stand for such bytes', () => {
  const bytes = (...parts: (string | number)[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))));
  assert.equal(jsonFaultAt(bytes('"', 0xff, '"')), 1);
  assert.equal(jsonFaultAt(bytes('ä\ufffd', 0xc0, 0x80)), 5);
  assert.equal(jsonFaultAt(bytes('\ufffd\ufffd', 0xed, 0xa0, 0x80)), 6);
  assert.equal(jsonFaultAt(bytes('€', 0xe2, 0x82)), 3);
  assert.equal(jsonFaultAt(bytes('"ä😀\ufffd', 0xff)), 10);
});
