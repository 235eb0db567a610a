import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createApiKey, createDigestOf, displayOf, keyFingerprint, parseApiKey } from '../../../gateway/auth/api-key.ts';
import { randomBase62, toBase62 } from '../../../gateway/auth/base62.ts';
import { makeKey } from './samples.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEF';

for (const [mode, check] of [
  ['live', '1LTk26'],
  ['test', '4ZgyRj'],
] as const) {
  test(`the worked example of mode ${mode} has its published checksum`, () => {
    const example = ['sk', mode, LETTERS + check].join('_');
    assert.equal(parseApiKey(example), mode);
  });
}

test('every key that is made is recognised with its mode', () => {
  fc.assert(
    fc.property(fc.constantFrom('live' as const, 'test' as const), (mode) => {
      const key = createApiKey(mode, randomBytes);
      assert.equal(key.length, 46);
      assert.equal(parseApiKey(key), mode);
    }),
  );
});

test('a key with any one character changed is not recognised', () => {
  const key = makeKey();
  fc.assert(
    fc.property(fc.nat(key.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (index, character) => {
      fc.pre(key[index] !== character);
      assert.equal(parseApiKey(key.slice(0, index) + character + key.slice(index + 1)), undefined);
    }),
  );
});

test('arbitrary text is not a key', () => {
  fc.assert(fc.property(fc.string(), (text) => assert.equal(parseApiKey(text), undefined)));
});

const key = makeKey('live');
for (const [what, text] of [
  ['live and test swapped', key.replace('live', 'test')],
  ['cut off', key.slice(0, -1)],
  ['a character too many', `${key}0`],
  ['a newline at the end', `${key}\n`],
  ['a newline in place of the last character', `${key.slice(0, -1)}\n`],
  ['another kind', key.replace('sk_', 'rk_')],
  ['upper case', key.toUpperCase()],
  ['nothing', ''],
] as const) {
  test(`not a key: ${what}`, () => assert.equal(parseApiKey(text), undefined));
}

test('random characters are equally likely: bytes that would favour some are thrown away', () => {
  const given = Uint8Array.from([255, 248, 247, 0, 61, 62, 250, 123]);
  assert.equal(
    randomBase62(5, () => given),
    'z0z0z',
  );
});

test('numbers are padded on the left', () => {
  assert.equal(toBase62(0, 6), '000000');
  assert.equal(toBase62(61, 6), '00000z');
  assert.equal(toBase62(2 ** 32 - 1, 6), '4gfFC3');
});

test('a digest depends on key and pepper, and reveals neither', () => {
  const digestOf = createDigestOf('one pepper');
  assert.equal(digestOf(key), digestOf(key));
  assert.notEqual(digestOf(key), digestOf(makeKey()));
  assert.notEqual(digestOf(key), createDigestOf('another pepper')(key));
  assert.notEqual(keyFingerprint(digestOf), keyFingerprint(createDigestOf('another pepper')));
  assert.match(digestOf(key), /^[\w-]{43}$/);
});

test('the displayed part of a key omits 28 of its random characters', () => {
  const { prefix, lastFour } = displayOf(key);
  assert.equal(prefix, key.slice(0, 12));
  assert.equal(lastFour, key.slice(42));
});
