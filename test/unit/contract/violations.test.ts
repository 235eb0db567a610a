import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toFields } from '../../../gateway/contract/violations/violations.ts';
import { bodyCheck } from './compiled.ts';

/** Schema of a member `m`, a value for it, and the text of its violation. */
const cases: readonly [schema: object | false, value: unknown, code: string, constraint?: object][] = [
  [{ type: 'integer' }, 1.5, 'wrong_type', { type: 'integer' }],
  [{ type: ['string', 'null'] }, 1, 'wrong_type', { type: ['string', 'null'] }],
  [{ format: 'date' }, '2026-13-01', 'wrong_format', { format: 'date' }],
  [{ format: 'date-time' }, '2026-01-01T00:00:00', 'wrong_format', { format: 'date-time' }],
  [{ format: 'email' }, 'x', 'wrong_format', { format: 'email' }],
  [{ format: 'int32' }, 2 ** 40, 'wrong_format', { format: 'int32' }],
  [{ pattern: '^a$' }, 'b', 'pattern_mismatch', { pattern: '^a$' }],
  [{ enum: ['a', 'b'] }, 'c', 'not_allowed', { enum: ['a', 'b'] }],
  [{ const: 'a' }, 'b', 'not_allowed', { const: 'a' }],
  [{ not: { type: 'string' } }, 'b', 'not_allowed'],
  [{ minimum: 1 }, 0, 'too_small', { minimum: 1 }],
  [{ exclusiveMinimum: 1 }, 1, 'too_small', { exclusiveMinimum: 1 }],
  [{ maximum: 1 }, 2, 'too_large', { maximum: 1 }],
  [{ exclusiveMaximum: 1 }, 1, 'too_large', { exclusiveMaximum: 1 }],
  [{ minLength: 2 }, 'é', 'too_short', { minLength: 2 }],
  [{ maxLength: 1 }, 'ab', 'too_long', { maxLength: 1 }],
  [{ minItems: 1 }, [], 'too_few_items', { minItems: 1 }],
  [{ maxItems: 1 }, [1, 2], 'too_many_items', { maxItems: 1 }],
  [{ minProperties: 1 }, {}, 'too_few_items', { minProperties: 1 }],
  [{ maxProperties: 0 }, { a: 1 }, 'too_many_items', { maxProperties: 0 }],
  [{ prefixItems: [{}], items: false }, [1, 2], 'too_many_items'],
  [{ contains: { type: 'string' } }, [1, 2], 'too_few_items'],
  [{ uniqueItems: true }, [1, 1], 'not_unique'],
  [{ multipleOf: 5 }, 7, 'not_multiple_of', { multipleOf: 5 }],
  [{ readOnly: true }, 'x', 'read_only'],
  [{ anyOf: [{ minLength: 3 }, { pattern: '^x' }] }, 'ab', 'no_match'],
  [{ oneOf: [{ minLength: 1 }, { maxLength: 9 }] }, 'ab', 'ambiguous'],
  [false, 'x', 'unknown'],
];

describe('each keyword has its code, at its place, with the keyword as constraint', () => {
  for (const [schema, value, code, constraint] of cases) {
    test(`${code}: ${JSON.stringify(schema)}`, async () => {
      const check = await bodyCheck({ type: 'object', properties: { m: schema } });
      const violations = check({ m: value });
      assert.equal(violations.length, 1, JSON.stringify(violations));
      const [{ message, ...violation } = { message: '' }] = violations;
      assert.deepEqual(violation, { in: 'body', param: 'm', pointer: '/m', code, ...(constraint && { constraint }) });
      assert.match(message, /^[A-Z].*\.$/);
    });
  }
});

test('a missing or unknown member is named at its own place', async () => {
  const check = await bodyCheck({
    type: 'object',
    required: ['a/b'],
    dependentRequired: { c: ['d'] },
    properties: {
      'a/b': {},
      c: {},
      d: {},
      list: { items: { required: ['x'], unevaluatedProperties: false, properties: { x: {} } } },
    },
    additionalProperties: false,
  });
  assert.deepEqual(
    check({ c: 1, e: 2, list: [{ x: 1 }, { y: 1 }] }).map(({ param, pointer, code }) => [param, pointer, code]),
    [
      ['a/b', '/a~1b', 'required'],
      ['e', '/e', 'unknown'],
      ['list[1].x', '/list/1/x', 'required'],
      ['list[1].y', '/list/1/y', 'unknown'],
      ['d', '/d', 'required'],
    ],
  );
});

test('a name that is not allowed is pointed at', async () => {
  const check = await bodyCheck({ type: 'object', properties: { tags: { propertyNames: { maxLength: 3 } } } });
  assert.deepEqual(check({ tags: { long_name: 1 } }), [
    {
      in: 'body',
      param: 'tags.long_name',
      pointer: '/tags/long_name',
      code: 'too_long',
      message: 'As a name: Must have at most 3 characters.',
      constraint: { maxLength: 3 },
    },
  ]);
});

test('one mistake is one violation', async () => {
  const check = await bodyCheck({
    type: 'object',
    properties: { m: { type: 'string', enum: ['a'], minLength: 1, pattern: '^a', not: { type: 'integer' } } },
    allOf: [{ required: ['m'] }, { required: ['m'] }],
  });
  assert.deepEqual(
    check({ m: 5 }).map(({ code }) => code),
    ['wrong_type'],
  );
  assert.deepEqual(
    check({}).map(({ code }) => code),
    ['required'],
  );
});

test('members called as in JavaScript are members only if they are sent', async () => {
  const properties = { constructor: { type: 'string' }, toString: { type: 'string' }, __proto__x: {} };
  const check = await bodyCheck({
    type: 'object',
    additionalProperties: false,
    required: ['valueOf'],
    properties: { ...properties, valueOf: {} },
  });
  assert.deepEqual(check({ valueOf: 1 }), []);
  assert.deepEqual(
    check({}).map(({ param, code }) => [param, code]),
    [['valueOf', 'required']],
  );
  assert.deepEqual(
    check(JSON.parse('{"valueOf":1,"__proto__":1}')).map(({ param, code }) => [param, code]),
    [['__proto__', 'unknown']],
  );
});

test('the violated requirement of a condition is reported, not the condition', async () => {
  const check = await bodyCheck({
    type: 'object',
    if: { not: { required: ['a'] } },
    else: { properties: { b: { const: 1 } } },
  });
  assert.deepEqual(
    check({ a: 1, b: 2 }).map(({ pointer, code }) => [pointer, code]),
    [['/b', 'not_allowed']],
  );
});

test('of a large value only the first mistake is reported, in linear time', async () => {
  const components = {
    schemas: { Item: { type: 'object', properties: { item: { $ref: '#/components/schemas/Item' } } } },
  };
  const check = await bodyCheck({ type: 'array', items: { $ref: '#/components/schemas/Item' } }, { components });
  const wrong = Array<number>(60_000).fill(1);
  assert.equal(check(wrong.slice(0, 100), 100).length, 100);
  const before = process.cpuUsage();
  assert.equal(check(wrong, wrong.length).length, 1);
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});

test('twenty violations are reported, and that there were more', () => {
  const violation = { in: 'query', param: 'q', code: 'unknown', message: 'Is not known here.' } as const;
  assert.deepEqual(toFields([violation]), { param: 'q', errors: [violation] });
  const many = toFields(Array(21).fill(violation));
  assert.equal((many.errors as unknown[]).length, 20);
  assert.equal(many.truncated, true);
  assert.equal(toFields([{ ...violation, param: '' }]).param, undefined);
});
