import assert from 'node:assert/strict';
import { test } from 'node:test';
import formats from 'ajv-formats/dist/formats.js';
import fc from 'fast-check';
import { formatCheck, REGEX_LENGTH_MAX } from '../../../gateway/contract/scalars/formats.ts';
import { areUnique } from '../../../gateway/contract/schemas/keywords.ts';
import { bodyCheck } from './compiled.ts';

const has = (format: string, text: string) => formatCheck(format, 'string')?.(text as never);

test('a URL is one to the check that takes linear time if it is one to ajv-formats', () => {
  const theirs = formats.fullFormats.url as RegExp;
  const part = fc.constantFrom(
    ...[
      'http://',
      'ftp://',
      'HTTPS://',
      'a',
      'bc',
      'é',
      '1',
      '.',
      '-',
      ':',
      '@',
      '/',
      '?',
      ' ',
      '8080',
      '.com',
      '127.0.0.1',
    ],
    ...['8.8.8.8', '10.', '192.168.1.1', 'user:word@', '\u{1f600}'],
  );
  const text = fc.tuple(fc.constantFrom('http://', 'https://', 'x'), fc.array(part, { maxLength: 10 }));
  fc.assert(
    fc.property(text, ([scheme, parts]) => {
      const url = scheme + parts.join('');
      assert.equal(has('url', url), theirs.test(url), url);
    }),
    { numRuns: 20_000 },
  );
  for (const url of ['http://a.bc', 'http://u:p@a.bc:80/x@y?z', 'https://a.b.cd/', 'ftp://é.éé'])
    assert.ok(has('url', url), url);
  for (const url of ['http://@a.bc', 'http://a', 'http://10.1.1.1', 'http://a.bc x']) assert.ok(!has('url', url), url);
});

test('base64 may have line breaks, and nothing else beside its alphabet', () => {
  for (const text of ['', 'AAAA', 'AA==', 'AAA=', 'AAAA\r\nAAAA\nAA==']) assert.ok(has('byte', text), text);
  for (const text of ['A', 'AAA', 'A===', 'AA=A', '\n<script>', 'AAAA\n*', 'AAA_']) assert.ok(!has('byte', text), text);
  assert.ok(has('byte', 'AAAA'.repeat(10_000_000)));
});

test('a regular expression that is too long for its compiler is refused', () => {
  assert.ok(has('regex', '^(a+)+$'));
  assert.ok(!has('regex', '('));
  assert.ok(has('regex', 'a'.repeat(REGEX_LENGTH_MAX)));
  assert.ok(!has('regex', 'a'.repeat(REGEX_LENGTH_MAX + 1)));
});

test('a text that exceeds the stack of the engine does not have the format', () => {
  assert.equal(has('uri', `http:${'%41'.repeat(10_000_000)}`), false);
});

test('formats of numbers apply to numbers only, formats of texts to texts only', async () => {
  const check = await bodyCheck({
    type: 'object',
    properties: {
      n: { format: 'int32' },
      t: { format: 'date' },
      any: { format: 'sort-of' },
      both: { type: ['integer', 'string'], format: 'int32' },
    },
  });
  assert.deepEqual(check({ n: 'text', t: 7, any: 'x', both: 'x' }), []);
  assert.deepEqual(
    check({ n: 2 ** 31, t: '2026-02-30', both: 2 ** 31 }).map(({ param, code, constraint }) => [
      param,
      code,
      constraint,
    ]),
    [
      ['n', 'wrong_format', { format: 'int32' }],
      ['t', 'wrong_format', { format: 'date' }],
      ['both', 'wrong_format', { format: 'int32' }],
    ],
  );
});

test('of a text that is too long only the length is reported', async () => {
  const check = await bodyCheck({ type: 'string', maxLength: 2, pattern: '^a', format: 'date' });
  assert.deepEqual(
    check('12345').map(({ code }) => code),
    ['too_long'],
  );
  // Two characters of two code units each: both are looked at.
  assert.deepEqual(
    check('😀😀').map(({ code }) => code),
    ['pattern_mismatch', 'wrong_format'],
  );
});

test('items are equal by their values, in any order of their members', () => {
  assert.ok(areUnique([1, '1', true, 'true', null, 'null', [1], ['1'], '[1]', {}, { a: 1 }, { a: '1' }, { b: 1 }, []]));
  for (const twice of [
    [1, 1.0],
    [0, -0],
    ['a', 'b', 'a'],
    [null, null],
    [
      { a: 1, b: [{ c: 2, d: 3 }] },
      { b: [{ d: 3, c: 2 }], a: 1 },
    ],
    [[], []],
  ])
    assert.ok(!areUnique(twice), JSON.stringify(twice));
  assert.ok(areUnique([Object.fromEntries([['__proto__', 1]]), {}]));
});

test('uniqueItems reports once, and nothing of a value that is no list', async () => {
  const check = await bodyCheck({ uniqueItems: true });
  assert.deepEqual(
    check([{ a: 1 }, { a: 1 }, { a: 1 }]).map(({ code }) => code),
    ['not_unique'],
  );
  assert.deepEqual(check('aa'), []);
  const allowed = await bodyCheck({ uniqueItems: false });
  assert.deepEqual(allowed([1, 1]), []);
});
