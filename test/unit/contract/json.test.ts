import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { hasEscapedNames, measure, parseJson, parseUnescaped } from '../../../gateway/contract/json.ts';

const limits = { jsonDepthMax: 32, jsonMembersMax: 1_000_000 };

function codeOf(text: string | Buffer, other: object = {}): string | undefined {
  try {
    parseJson(Buffer.from(text), { ...limits, ...other });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error.code;
  }
}

test('two members of one name are refused, however the name is written and wherever they stand', () => {
  for (const text of [
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"a":{"b":[{"c":1,"c":1}]}}',
    '[{"x":1},{"y":1,"y":null}]',
    '{"__proto__":1,"__proto__":2}',
    '{"":1,"":1}',
    '{"\\"":1,"\\u0022":2}',
    '{"a" :1 , "a"\n:\t2}',
  ])
    assert.equal(codeOf(text), 'duplicate_json_member', text);
});

test('a text that only seems to have two members is accepted', () => {
  for (const text of [
    '{"a":":","b":"\\":\\""}',
    '{"a":"a:1,a:2"}',
    '[{"a":1},{"a":2}]',
    '{"a":{"a":{"a":1}}}',
    '{"\\\\":1,"\\\\\\\\":2}',
    '"a:b"',
    '[":",":"]',
    '{"__proto__":1,"constructor":2,"toString":3}',
  ])
    assert.equal(codeOf(text), undefined, text);
});

test('bytes that are not one JSON text in UTF-8 are malformed', () => {
  for (const text of ['', '{', '{"a":1}}', '{"a":1,}', "{'a':1}", 'undefined', 'NaN', '01', '{"a":1} x', '\ufeff{}'])
    assert.equal(codeOf(text), 'malformed_json', JSON.stringify(text));
  assert.equal(codeOf(Buffer.from([0x22, 0xff, 0x22])), 'malformed_json');
});

test('numbers that no check could hold to a contract are reported by their places', () => {
  const told = (text: string) => parseJson(Buffer.from(text), limits).uncheckable;
  assert.deepEqual(told('{"a":[1,{"b/c":1e400}],"d":-1e999,"e":1e308,"f":1e-400,"g":"1e400"}'), [
    { pointer: '/a/1/b~1c', literal: '1e400' },
    { pointer: '/d', literal: '-1e999' },
    { pointer: '/f', literal: '1e-400' },
  ]);
  assert.deepEqual(told('1e400'), [{ pointer: '', literal: '1e400' }]);
  assert.deepEqual(told('{"\u0061":1e400}'), [{ pointer: '/a', literal: '1e400' }]);
  assert.deepEqual(told('[[], {"a": [], "b": [{}, 1.00000000000000000001]}]'), [
    { pointer: '/1/b/1', literal: '1.00000000000000000001' },
  ]);
  assert.deepEqual(told('[0, -0.0, 0e999, 0.000000000000000000, 1.00000000000000000000, 9007199254740993, 1e22]'), []);
  assert.equal(told(`[${Array(1000).fill('1e400')}]`).length, 21);
  assert.deepEqual(told('[1,2]'), []);
});

test('names are read rightly after a name with a backslash has been seen', () => {
  // V8 then takes every escape in a name at that place for a backslash.
  parseJson(Buffer.from('{"shape":1,"\\\\":2}'), limits);
  const read = (text: string) => parseJson(Buffer.from(text), limits).value;
  assert.deepEqual(read('{"shape":1,"\\u0062":[{"c\\n":null}, "\\u0063", -1.5e3, true ]}'), {
    shape: 1,
    b: [{ 'c\n': null }, 'c', -1500, true],
  });
  assert.equal(codeOf('{"shape":1,"\\u0073hape":2}'), 'duplicate_json_member');
  assert.equal(codeOf(`{"\\n":${'['.repeat(40)}${']'.repeat(40)}}`), 'json_too_complex');
});

test('scalars are values', () => {
  for (const [text, value] of [
    ['1', 1],
    ['"x"', 'x'],
    ['null', null],
    ['true', true],
  ] as const)
    assert.deepEqual(parseJson(Buffer.from(text), limits), { value, size: 0, uncheckable: [] });
});

test('members and items are counted together, at all depths', () => {
  const text = '{"a":[1,2,{"b":3}],"c":{}}';
  assert.equal(codeOf(text, { jsonMembersMax: 6 }), undefined);
  assert.equal(codeOf(text, { jsonMembersMax: 5 }), 'json_too_complex');
  assert.equal(
    codeOf('{"a":1,"a":2}', { jsonMembersMax: 1 }),
    'duplicate_json_member',
    'a fault before it comes first',
  );
  assert.equal(codeOf('{"a\\n":1,"b":2}', { jsonMembersMax: 1 }), 'json_too_complex', 'also with escapes in names');
});

test('nesting is counted exactly, and depth beyond the stack is no problem', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  assert.equal(codeOf(nested(32)), undefined);
  assert.equal(codeOf(nested(33)), 'json_too_complex');
  assert.equal(codeOf(`{"a":${nested(31)}}`), undefined);
  assert.equal(codeOf(`{"a":${nested(32)}}`), 'json_too_complex');
  assert.equal(codeOf(nested(100_000)), 'json_too_complex');
});

test('the size is the number of members and items at all depths', () => {
  assert.equal(parseJson(Buffer.from('{"a":[1,2,{"b":3}],"c":{}}'), limits).size, 6);
  assert.deepEqual(measure([[[]]], 2), { members: 0, items: 2, depth: 3 });
});

test('a megabyte of strings is read in one pass', () => {
  // Looking for a colon from each string on would read the rest of the text as often as there are strings.
  const strings = (count: number) => Buffer.from(`[${Array(count).fill('"a"').join(',')}]`);
  const small = cpuOf(() => parseJson(strings(20_000), limits));
  const large = cpuOf(() => parseJson(strings(200_000), limits));
  assert.ok(large < Math.max(small, 3000) * 40, `${small} µs, then ${large} µs for ten times as much`);
});

function cpuOf(work: () => void): number {
  work();
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Finds duplicates the slow way: character by character, with a set of names for each open object. */
function hasDuplicate(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string;
    if (character === '{') open.push(new Set());
    if (character === '[') open.push(undefined);
    if (character === '}' || character === ']') open.pop();
    if (character !== '"') continue;
    let end = i + 1;
    while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
    const rest = text.slice(end + 1).trimStart();
    if (rest.startsWith(':')) {
      const name = JSON.parse(text.slice(i, end + 1)) as string;
      if (open.at(-1)?.has(name)) return true;
      open.at(-1)?.add(name);
    }
    i = end;
  }
  return false;
}

/** JSON texts with names from a small set, so that duplicates are frequent, and with odd spacing and escapes. */
const name = fc.constantFrom('"a"', '"\\u0061"', '"b"', '":"', '"\\""', '"__proto__"', '"\\\\"');
const space = fc.constantFrom('', ' ', '\n\t');
const { value: jsonText } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('1', 'null', '"x:y"', '"\\\\"', '{}', '[]'),
    tie('object'),
    tie('array'),
  ),
  object: fc
    .array(fc.tuple(name, space, space, tie('value')), { maxLength: 4 })
    .map((members) => `{${members.map(([key, a, b, value]) => `${key}${a}:${b}${value}`).join(',')}}`),
  array: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(' ,')}]`),
}));

test('agrees with a scanner that reads character by character', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      assert.equal(codeOf(text), hasDuplicate(text) ? 'duplicate_json_member' : undefined);
    }),
    { numRuns: 2000 },
  );
});

test('a text is parsed by the quick way only if that cannot change it', () => {
  const value = { a: ['\\"', { b: 'x: "y"' }], c: { d: null }, e: 'é\u2028' };
  assert.deepEqual(parseUnescaped(JSON.stringify(value, null, 1)), value);
  for (const text of ['{"a":1,"a":2}', '{"a":{"b":1,"b":1}}', '{"a\\"":1}', '{"\\u0061":1}', 'a: 1', '{"a":1,}', ''])
    assert.equal(parseUnescaped(text), undefined, text);
});

test('escapes in names are distinguished from those in values', () => {
  for (const text of ['{"a\\\\":1}', '{"a":{"^\\\\d+$":{}}}', '[{"\\u0061" : 1}]'])
    assert.ok(hasEscapedNames(text), text);
  for (const text of ['{"a":"\\\\d"}', '["\\"a\\":1"]', '{"a":1}', '"\\\\"']) assert.ok(!hasEscapedNames(text), text);
});
