// A client chooses the input of a check, so each format and each keyword is run on values that grow: 32 times the size may take 32 times
// the time and some more, and must not take the square of it. Times are compared with each other, never with a clock.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import formats from 'ajv-formats/dist/formats.js';
import { LIMIT_RUNS } from '../limits/scenarios.ts';
import { bodyCheck } from './compiled.ts';

/** So large that linear and quadratic time (1024) lie far apart. */
const FACTOR = 32;
/** The middle between linear and quadratic time: either may be measured five times wrong. */
const GROWTH_MAX = FACTOR ** 1.5;
const LENGTH = 500;
const ROUNDS = 3;
const TRIES = 5;

type Check = (value: unknown) => unknown;

/** CPU time of one check, repeated until the clock's step does not matter; the least of some rounds. */
function cost(check: Check, value: unknown, rounds: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage();
    let spent = 0;
    let times = 0;
    do {
      check(value);
      times++;
      const { user, system } = process.cpuUsage(start);
      spent = user + system;
    } while (spent < 300);
    least = Math.min(least, spent / times);
  }
  return least;
}

/** Measured again before it counts: other work on the machine can spoil one of the two figures. */
function assertGrowth(what: string, check: Check, valueFor: (size: number) => unknown, size = LENGTH): void {
  let ratio = 0;
  for (let tries = 0; tries < TRIES; tries++) {
    const rounds = tries === 0 ? 1 : ROUNDS;
    ratio = cost(check, valueFor(size * FACTOR), rounds) / cost(check, valueFor(size), rounds);
    if (ratio < GROWTH_MAX) return;
  }
  assert.fail(`${what}: ${FACTOR} times the size takes ${ratio.toFixed(1)} times the time`);
}

/** Texts of a length that come near to the patterns of formats: a beginning, many repetitions, an end that does not fit. */
function nearTexts(format: string): ((length: number) => string)[] {
  const repeated = (text: string) => (length: number) => text.repeat(Math.ceil(length / text.length));
  const [heads, atoms] = near[format] ?? [[''], ['a', '1', '-', '.', ':', '/', 'T', ' ', 'é', 'a.', '1-']];
  const ends = ['', '\u0000'];
  // Either end with every beginning and every repetition; both with each pair of them in the full run.
  return heads.flatMap((head, one) =>
    atoms.flatMap((atom, other) =>
      ends
        .filter((_, index) => LIMIT_RUNS > 1 || (one + other) % ends.length === index)
        .map((end) => (length: number) => head + repeated(atom)(length) + end),
    ),
  );
}

const uriAtoms = ['a', '1', '%41', 'a/', '//', ':', '@', 'a@', '::', 'a.', '1.', '?', 'a:1', '['];
const near: Readonly<Record<string, readonly [heads: readonly string[], atoms: readonly string[]]>> = {
  uri: [['', 'a:', 'http://', 'http://a@', 'http://['], uriAtoms],
  'uri-reference': [['', 'a:', 'http://', 'http://a@', 'http://['], uriAtoms],
  url: [
    ['http://', 'http://a', 'http://a.', 'ftp://a@'],
    [...uriAtoms, '-', 'a-', ':@', 'é', 'é.'],
  ],
  'uri-template': [
    ['', '{', '{a'],
    ['a', '{a}', ',a', '%41', 'é', '{'],
  ],
  email: [
    ['', 'a@', 'a@a.'],
    ['a', 'a.', '.', '-', 'a-', '@', 'a@', '1'],
  ],
  regex: [
    ['', '(?<a>b)|'],
    ['a', '(', '(?<a>)|', '()', '[', '\\1', '\\k<a>', 'a|', '(?:a)*'],
  ],
  byte: [
    ['', 'A'],
    ['AAAA', 'AAAA\n', '\n', 'A=', '='],
  ],
  time: [
    ['00:00:00.', '00:00:00'],
    ['0', '+', '-', 'z'],
  ],
  'date-time': [
    ['2020-01-01T00:00:00.', '2020-01-01'],
    ['0', 'T', ' ', '\n'],
  ],
  duration: [
    ['P', 'PT'],
    ['1', '1Y', '1M', '1'],
  ],
  'json-pointer': [
    ['', '/'],
    ['a', '/', '~0', '/a', '~'],
  ],
  'relative-json-pointer': [
    ['', '1/', '0'],
    ['1', 'a', '/', '~0'],
  ],
};

describe('the measurement', () => {
  const numbersTo = (size: number) => Array.from({ length: size }, (_, at) => at);

  it('finds a check that compares each item with each', () => {
    const quadratic = (items: unknown) => (items as number[]).filter((one, at, all) => all.lastIndexOf(one) !== at);
    // Other work on the machine may hide it from a single measurement.
    const finds = () => {
      try {
        assertGrowth('pairs', quadratic, numbersTo, 60);
        return false;
      } catch (error) {
        assert.match(String(error), /^AssertionError.*: pairs: 32 times the size/);
        return true;
      }
    };
    assert.ok(Array.from({ length: 10 }).some(finds));
  });

  it('accepts a check that sorts', () => {
    assertGrowth('sorting', (items) => (items as number[]).toSorted((a, b) => b - a), numbersTo);
  });
});

const named = Object.keys(formats.fullFormats);
const numbers = new Set(['int32', 'int64', 'float', 'double']);

describe('the time of a format grows with the text', () => {
  for (const format of named.filter((name) => !numbers.has(name))) {
    it(format, async () => {
      const check = await bodyCheck({ type: 'string', format });
      for (const textOf of nearTexts(format)) assertGrowth(`${format} of ${textOf(24)}`, check, textOf);
    });
  }
});

const item = { $ref: '#/components/schemas/Item' };
const components = {
  schemas: {
    Item: { type: 'string' },
    Thing: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'array', items: { type: 'integer' } } } },
  },
};
const texts = (size: number) => Array.from({ length: size }, (_, at) => `text ${at}`);
const counts = (size: number) => Array.from({ length: size }, (_, at) => at);
const things = (size: number) => counts(size).map((at) => ({ a: at, b: [at], c: { d: at } }));
/** V8 keeps an object with few members in another form than one with many. After a member was deleted, both have the same form. */
function members(size: number): object {
  const object = Object.fromEntries([-1, ...counts(size)].map((at) => [`member${at}`, at]));
  delete object['member-1'];
  return object;
}
const text = (size: number) => 'a'.repeat(size);

/** A tree with several kinds of nodes, each of which has the members common to all. */
const kind = (name: string) => ({
  allOf: [{ $ref: '#/components/schemas/Node' }, { properties: { kind: { const: name } }, required: ['kind'] }],
});
const trees = {
  schemas: {
    Tree: { oneOf: ['A', 'B', 'C'].map((name) => ({ $ref: `#/components/schemas/${name}` })) },
    ...{ A: kind('A'), B: kind('B'), C: kind('C') },
    Node: { type: 'object', properties: { child: { $ref: '#/components/schemas/Tree' } } },
  },
};
const tree = (depth: number, leaf: object): object =>
  depth === 0 ? leaf : { kind: 'A', child: tree(depth - 1, leaf) };

describe('the time of schemas that refer to themselves grows with the depth', () => {
  for (const union of ['oneOf', 'anyOf'])
    for (const [what, leaf] of Object.entries({ fits: { kind: 'C' }, 'does not fit': { kind: 'D' } }))
      for (const [extent, size] of Object.entries({ 'all errors': 0, 'the first error': 100_000 }))
        it(`${union}, what ${what}, ${extent}`, async () => {
          const schemas = { ...trees.schemas, Tree: { [union]: trees.schemas.Tree.oneOf } };
          const check = await bodyCheck({ $ref: '#/components/schemas/Tree' }, { components: { schemas } });
          assert.equal(check(tree(3, leaf), size).length > 0, what === 'does not fit');
          assertGrowth(
            union,
            (value) => check(value, size),
            (depth) => tree(depth, leaf),
            4,
          );
        });
});

/** Each keyword that looks at more than one value, with values that it has the most to do with. */
const keywords: readonly [name: string, schema: object, valueFor: (size: number) => unknown][] = [
  ['type', { type: 'array', items: { type: 'string' } }, texts],
  ['items', { items: { type: 'integer', minimum: 0, maximum: 9e9, multipleOf: 1 } }, counts],
  ['prefixItems', { prefixItems: [{}, {}], items: { type: 'string' } }, texts],
  ['uniqueItems of texts', { uniqueItems: true, items: { type: 'string' } }, texts],
  ['uniqueItems of texts behind a reference', { uniqueItems: true, items: item }, texts],
  ['uniqueItems of anything', { uniqueItems: true }, (size) => [...texts(size), ...counts(size), ...things(size)]],
  ['uniqueItems of objects', { uniqueItems: true, items: { $ref: '#/components/schemas/Thing' } }, things],
  ['uniqueItems of two types', { uniqueItems: true, items: { type: ['string', 'integer'] } }, counts],
  ['uniqueItems although maxItems failed', { uniqueItems: true, maxItems: 3, items: item }, texts],
  ['uniqueItems of one nested list', { uniqueItems: true }, (size) => [things(size), things(size)]],
  ['contains', { contains: { const: 'none' }, minContains: 1, maxContains: 3 }, texts],
  ['unevaluatedItems', { anyOf: [{ prefixItems: [{}] }, { prefixItems: [{}, {}] }], unevaluatedItems: {} }, texts],
  ['minItems, maxItems', { minItems: 1, maxItems: 5 }, texts],
  ['minLength, maxLength', { minLength: 1, maxLength: 5 }, (size) => '😀'.repeat(size)],
  ['pattern', { pattern: '^(a+)+$' }, (size) => `${text(size)}!`],
  ['pattern that is not anchored', { pattern: '\\s+$' }, (size) => `${' '.repeat(size)}!`],
  ['pattern with a look-ahead', { pattern: '^(?=.*b)(?=.*c).*d$' }, text],
  ['format although maxLength failed', { format: 'url', maxLength: 10 }, (size) => `http://${'::'.repeat(size)}`],
  ['enum of texts', { enum: ['b', 'c'] }, text],
  ['enum of objects', { enum: [{ member0: 0 }, members(99)] }, members],
  ['const', { const: members(99) }, members],
  ['properties', { properties: { member1: {}, member2: { type: 'string' } } }, members],
  ['required', { required: ['member1', 'other'] }, members],
  ['additionalProperties', { properties: { a: {} }, additionalProperties: { type: 'integer' } }, members],
  ['patternProperties', { patternProperties: { '^m.*1$': {}, '^(m+)+$': {} }, additionalProperties: {} }, members],
  ['propertyNames', { propertyNames: { pattern: '^[a-z]+[0-9]*$', maxLength: 20 } }, members],
  ['minProperties, maxProperties', { minProperties: 1, maxProperties: 5 }, members],
  ['dependentRequired', { dependentRequired: { member1: ['member2'] } }, members],
  ['dependentSchemas', { dependentSchemas: { member1: { required: ['member2'] } } }, members],
  [
    'unevaluatedProperties',
    { anyOf: [{ properties: { a: {} } }, { patternProperties: { '^m': {} } }], unevaluatedProperties: false },
    members,
  ],
  ['allOf', { allOf: [{ items: item }, { items: { minLength: 1 } }] }, texts],
  ['anyOf', { items: { anyOf: [{ const: 'a' }, { const: 'b' }, item] } }, texts],
  ['oneOf', { items: { oneOf: [{ type: 'integer' }, { const: 'b' }, item] } }, texts],
  ['not', { not: { contains: { const: 'none' } } }, texts],
  ['if', { if: { contains: { const: 'none' } }, else: { minItems: 1, items: item } }, texts],
];

describe('the time of a keyword grows with the value', () => {
  for (const [name, schema, valueFor] of keywords) {
    it(name, async () => {
      const check = await bodyCheck(schema, { components });
      assertGrowth(name, (value) => check(value, 100_000), valueFor, 300);
    });
  }
});
