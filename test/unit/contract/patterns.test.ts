import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pattern, toPattern } from '../../../gateway/contract/scalars/patterns.ts';
import { createCheckScope, STEPS_MAX, withinScope } from '../../../gateway/contract/schemas/check-scope.ts';
import { bodyCheck } from './compiled.ts';

/** Patterns with a text on which a backtracking engine takes exponential or high polynomial time. */
const evil: readonly [source: string, attack: string][] = [
  ['^(a+)+$', `${'a'.repeat(5000)}!`],
  ['^(a|a)*$', `${'a'.repeat(5000)}!`],
  ['^(a|aa)+$', `${'a'.repeat(5000)}!`],
  ['^(a?){60}a{60}$', 'a'.repeat(60)],
  ['^(a{1,30})+$', `${'a'.repeat(5000)}!`],
  ['^([a-zA-Z0-9]+\\s?)*$', `${'a'.repeat(5000)}!`],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(5000)],
  ['^(.*a){20}$', `${'a'.repeat(5000)}!`],
  ['\\s+$', `${' '.repeat(100_000)}!`],
  ['.*.*.*x', 'a'.repeat(5000)],
  ['^[^@]+[^@]+[^@]+@$', 'a'.repeat(5000)],
  ['^(?:[a-z0-9]+(?:[._-][a-z0-9]+)*)+@x$', `${'a'.repeat(5000)}!`],
  ['(?=(a+)+$)b', `${'a'.repeat(5000)}!`],
  ['^(?!x)(a+)+$', `${'a'.repeat(5000)}!`],
  ['^(\\w+)(\\1)+$', `${'a'.repeat(5000)}!`],
];

const harmless = [
  '^cust?_[0-9A-Za-z]{16}$',
  '^\\+[1-9][0-9]{1,14}$',
  '^[a-z]{3}$',
  '^[A-Z]{2}$',
  '^[^/]+$',
  '^(draft|open|paid)$',
  '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2})?$',
  '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}$',
];

test('no pattern that can explode runs on an engine that backtracks without a bound', () => {
  for (const [source, attack] of evil) {
    const pattern = toPattern(source);
    assert.notEqual(pattern.engine, 'native', source);
    // The bounded engine takes long texts to the linear one, too.
    if (pattern.engine === 'bounded') assert.ok(attack.length > 512, source);
    assert.equal(typeof pattern.test(attack), 'boolean', source);
  }
});

test('a pattern that is linear by its shape runs on the fastest engine', () => {
  for (const source of harmless) assert.equal(toPattern(source).engine, 'native', source);
});

test('both engines agree on the patterns that both accept', () => {
  const texts = ['', 'a', 'aa', 'a b', 'a.b', 'A', 'heat_pump', 'a@x', 'é', '\u{1f600}', 'a\n', '1', '-', '/', '_'];
  for (const source of [
    '^[a-z0-9]+(_[a-z0-9]+)*$',
    '^(a|b|c)+$',
    '(\\w+\\s?)+$',
    '^(\\u00e9|\\u{1f600})+$',
    '^([^]|x)+$',
    '^(?<word>\\p{L}+[ .]?)+$',
    '^(\\/|\\.|\\-|_)+$',
  ]) {
    const pattern = toPattern(source);
    assert.equal(pattern.engine, 'linear', source);
    for (const text of texts) {
      const flags = source.includes('\\-') ? '' : 'u';
      assert.equal(pattern.test(text), new RegExp(source, flags).test(text), `${source} ${text}`);
    }
  }
});

test('the anchors of other languages become those of ECMA-262', () => {
  for (const source of ['\\A[a-z]+\\Z', '\\A[a-z]+\\z', '\\A([a-z]{1,3}\\.?)+\\Z']) {
    const pattern = toPattern(source);
    assert.ok(pattern.test('abc'), source);
    assert.ok(!pattern.test('abc1'), source);
    assert.ok(!pattern.test('Aabc'), source);
  }
  assert.ok(toPattern('^\\\\A[\\\\Z]$').test('\\AZ'));
});

test('look-around without nested repetition is exact on text of a common length', () => {
  const pattern = toPattern('^(?=.*[a-z])(?=.*[0-9]).{8,}$');
  assert.equal(pattern.engine, 'bounded');
  assert.ok(pattern.test('password1'));
  assert.ok(!pattern.test('password'));
  assert.ok(!pattern.test('pass1'));
  // Without the look-ahead parts, which the upstream still checks.
  assert.ok(pattern.test('p'.repeat(2000)));
});

test('the texts of one request share a budget, beyond which they are refused', () => {
  const pattern = toPattern('^(?=.*c)[ab]+$');
  assert.equal(pattern.engine, 'bounded');
  const long = 'a'.repeat(pattern.exactLength);
  const tested = (text: string, times: number) =>
    withinScope(createCheckScope(), () => {
      for (let time = 0; time < times; time += 1) assert.ok(!pattern.test(text));
    });
  tested(long, 10);
  tested('abab', 10_000);
  assert.throws(() => tested(long, 10_000), { code: 'request_too_complex' });
});

test('a pattern spends what its engine takes, before it takes it', () => {
  const spent = (source: string, text: string) => {
    const scope = createCheckScope();
    withinScope(scope, () => toPattern(source).test(text));
    return STEPS_MAX - scope.stepsLeft;
  };
  let state = 1;
  const letter = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 2 === 0 ? 'a' : 'b';
  };
  const random = (length: number) => Array.from({ length }, letter).join('');
  assert.ok(spent('^[a-z]{3}-[0-9]{4}$', 'abc-1234') < 20);
  assert.ok(spent('^[a-z0-9]+$', 'a'.repeat(1000)) < 1000);
  // The fixed count multiplies the work at each place of the text.
  assert.ok(spent('[a-z]{60}!', 'a'.repeat(1000)) > 10 * spent('[a-z]{3}!', 'a'.repeat(1000)));
  // From some length on RE2 takes less.
  assert.ok(spent('[a-z]{60}!', 'a'.repeat(400_000)) < 4_000_000);
  assert.throws(() => spent('(?:(?:[a-z]{20}){20}){20}!', 'a'.repeat(10_000)), { code: 'request_too_complex' });
  // RE2 knows few states of the one and makes too many for the other.
  assert.ok(spent('^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==)?$', 'AAAA'.repeat(100_000)) < 4_000_000);
  for (const source of ['(a|b)*a(a|b){60}[!c]$', '(a|b)*a(a|b){20}[!c]$'])
    assert.throws(() => spent(source, `!${random(200_000)}`), { code: 'request_too_complex' }, source);
});

test('a pattern that no engine can bound admits more, never runs long, or stops the boot', () => {
  const host = toPattern('^(?:(?!-)[a-z0-9-]{1,63}(?<!-)\\.)+[a-z]{2,}$');
  assert.equal(host.engine, 'widened');
  assert.ok(host.test('www.example.com'));
  assert.ok(host.test('-www.example.com'));
  assert.ok(!host.test('example'));
  assert.ok(toPattern('^(a+)\\1$').test('aaaa'));
  assert.throws(() => toPattern('^((?=a)\\cA+)+$'), SyntaxError);
  assert.throws(() => toPattern('['), SyntaxError);
});

test('a pattern is made once for the same text, however many others there are', () => {
  const pattern = toPattern('^(a|aa)+$');
  assert.equal(toPattern('^(a|aa)+$'), pattern);
  for (let i = 0; i < 1001; i += 1) toPattern(`^x{${i}}$`);
  assert.notEqual(toPattern('^(a|aa)+$'), pattern);
  assert.ok(toPattern('^(a|aa)+$').test('aaa'));
  for (const _ of [1, 2]) assert.throws(() => toPattern('['), SyntaxError);
});

test('every pattern of a document keeps its own engine', async () => {
  // Ajv shares patterns that print alike: two patterns on the linear engine must not become one.
  const check = await bodyCheck({
    type: 'object',
    properties: { a: { pattern: '^(a+)+$' }, b: { pattern: '^(b+)+$' }, c: { pattern: '^(?!x)(c+)+$' } },
  });
  assert.deepEqual(check({ a: 'aa', b: 'bb', c: 'cc' }), []);
  assert.deepEqual(
    check({ a: 'b', b: 'a', c: 'd' }).map(({ pointer }) => pointer),
    ['/a', '/b', '/c'],
  );
});

test('the names of members obey patterns as well', async () => {
  const check = await bodyCheck({ type: 'object', patternProperties: { '^(x+)+$': false } });
  assert.deepEqual(
    check({ xx: 1, xy: 1 }).map(({ pointer, code }) => [pointer, code]),
    [['/xx', 'unknown']],
  );
});

test('exec answers as test does, as Ajv uses either', () => {
  const pattern: Pattern = toPattern('^(a+)+$');
  assert.deepEqual(pattern.exec('aa'), ['aa']);
  assert.equal(pattern.exec('b'), null);
});
