import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseTarget } from '../../../gateway/edge/admission/path.ts';
import { anyCharacter } from '../../support/characters.ts';

describe('parseTarget', () => {
  const targets: readonly (readonly [string, string, readonly string[], string])[] = [
    ['/', '/', [''], ''],
    ['/a/b', '/a/b', ['a', 'b'], ''],
    ['/a/', '/a/', ['a', ''], ''],
    ['/a?b=c?d', '/a', ['a'], 'b=c?d'],
    ['/a?', '/a', ['a'], ''],
    ['/a%20b/%C3%A4', '/a%20b/%C3%A4', ['a b', 'ä'], ''],
    ['/%61%2d', '/a-', ['a-'], ''],
    ['/.a/..b', '/.a/..b', ['.a', '..b'], ''],
  ];
  for (const [target, path, segments, query] of targets) {
    it(`reads ${target}`, () => {
      assert.deepEqual(parseTarget(target), { path, segments, query });
    });
  }

  for (const target of [
    '',
    'a',
    '*',
    '/a//b',
    '//a',
    '/./a',
    '/a/..',
    '/%2e',
    '/a%2Fb',
    '/a%5cb',
    '/a;b',
    '/%',
    '/a#b',
    '/?"',
    '/?#',
  ]) {
    it(`refuses ${target || 'nothing'}`, () => {
      assert.throws(() => parseTarget(target), { code: 'malformed_path' });
    });
  }

  it('answers a path that is read again as the same segments', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: anyCharacter, minLength: 1 }), { minLength: 1 }), (values) => {
        const path = `/${values.map(encodeURIComponent).join('/')}`;
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
        if (values.some((value) => /^\.{1,2}$|[\x00-\x1f\x7f/\\]/.test(value))) {
          assert.throws(() => parseTarget(path), { code: 'malformed_path' });
          return;
        }
        const first = parseTarget(path);
        assert.deepEqual(first.segments, values);
        assert.deepEqual(parseTarget(first.path), first);
      }),
    );
  });

  it('takes time in proportion to the length, for any content', () => {
    const before = process.cpuUsage();
    for (const piece of ['a/', '/', '%2e/', '%', 'a%', '..', 'aa.']) {
      try {
        parseTarget(`/${piece.repeat(30_000)}`);
      } catch {
        // Refused or not, it has to be quick.
      }
    }
    assert.ok(process.cpuUsage(before).user < 500_000);
  });
});
