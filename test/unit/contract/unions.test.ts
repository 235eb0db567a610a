import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyCheck } from './compiled.ts';

const money = { type: 'object', required: ['amount'], properties: { amount: { type: 'integer' } } };
const components = {
  schemas: {
    Money: money,
    Cat: {
      type: 'object',
      required: ['kind', 'lives'],
      properties: { kind: { type: 'string' }, lives: { type: 'integer' } },
    },
    Dog: {
      type: 'object',
      required: ['kind', 'price'],
      properties: { kind: { type: 'string' }, price: { $ref: '#/components/schemas/Money' } },
    },
  },
};
const cat = { $ref: '#/components/schemas/Cat' };
const dog = { $ref: '#/components/schemas/Dog' };

async function codesOf(schema: object, value: unknown): Promise<string[]> {
  const check = await bodyCheck({ type: 'object', properties: { m: schema } }, { components });
  return check({ m: value }).map(({ pointer, code }) => `${pointer} ${code}`);
}

test('a nullable schema has the errors of the schema', async () => {
  for (const schema of [
    { anyOf: [money, { type: 'null' }] },
    { oneOf: [{ type: 'null' }, { $ref: '#/components/schemas/Money' }] },
  ]) {
    assert.deepEqual(await codesOf(schema, null), []);
    assert.deepEqual(await codesOf(schema, {}), ['/m/amount required']);
    assert.deepEqual(await codesOf(schema, { amount: 'x' }), ['/m/amount wrong_type']);
    assert.deepEqual(await codesOf(schema, 'x'), ['/m no_match']);
  }
});

test('the only branch that a value of this type can match gives the errors', async () => {
  const schema = { oneOf: [{ type: 'string', maxLength: 2 }, { type: 'array', maxItems: 1 }, cat] };
  assert.deepEqual(await codesOf(schema, 'abc'), ['/m too_long']);
  assert.deepEqual(await codesOf(schema, [1, 2]), ['/m too_many_items']);
  assert.deepEqual(await codesOf(schema, { kind: 1 }), ['/m/lives required', '/m/kind wrong_type']);
  assert.deepEqual(await codesOf(schema, true), ['/m no_match']);
  assert.deepEqual(await codesOf({ anyOf: [{ type: 'number', maximum: 1 }, { type: 'string' }] }, 2), ['/m too_large']);
});

test('a type that another schema of the value excludes is the only violation', async () => {
  const items = { type: 'integer' };
  const anyOf = [
    { type: 'string', maxLength: 2 },
    { type: 'array', items },
  ];
  const check = await bodyCheck({ allOf: [{ anyOf }, { type: ['string', 'array'] }] });
  const list = await bodyCheck({ type: ['string', 'array'], maxLength: 2, items });
  for (const value of [true, 5, {}, null, 'abc', ['x']]) assert.deepEqual(check(value), list(value));
  assert.equal(check(5)[0]?.message, 'Must be a string or an array.');
});

test('a union without a deciding branch is one violation', async () => {
  assert.deepEqual(await codesOf({ oneOf: [cat, dog] }, { kind: 'cat', price: {} }), ['/m no_match']);
  assert.deepEqual(await codesOf({ anyOf: [cat, dog] }, {}), ['/m no_match']);
});

test('errors beside a union stay, even of schemas that its branches use, too', async () => {
  const schema = { type: 'object', properties: { fee: { $ref: '#/components/schemas/Money' } }, anyOf: [cat, dog] };
  assert.deepEqual(await codesOf({ ...schema, anyOf: [cat, cat] }, { fee: {} }), [
    '/m no_match',
    '/m/fee/amount required',
  ]);
  assert.deepEqual(await codesOf(schema, { fee: 1, kind: 'cat', lives: 9 }), ['/m/fee wrong_type']);
});

test('a discriminator names the branch', async () => {
  const schema = { oneOf: [cat, dog], discriminator: { propertyName: 'kind' } };
  assert.deepEqual(await codesOf(schema, { kind: 'Cat', lives: 'x' }), ['/m/lives wrong_type']);
  assert.deepEqual(await codesOf(schema, { kind: 'Dog', price: {} }), ['/m/price/amount required']);
  assert.deepEqual(await codesOf(schema, { kind: 'Cow' }), ['/m/kind not_allowed']);
  assert.deepEqual(await codesOf(schema, {}), ['/m/kind required']);
  const mapping = { feline: '#/components/schemas/Cat', canine: 'Dog' };
  const mapped = { ...schema, discriminator: { propertyName: 'kind', mapping } };
  assert.deepEqual(await codesOf(mapped, { kind: 'feline' }), ['/m/lives required']);
  assert.deepEqual(await codesOf(mapped, { kind: 'canine' }), ['/m/price required']);
  assert.deepEqual(await codesOf(mapped, { kind: 'Cat' }), ['/m/kind not_allowed']);
});

test('a circular nullable schema is distinguished from the null beside it', async () => {
  const parent = { anyOf: [{ type: 'null' }, { $ref: '#/components/schemas/Node' }] };
  const Node = { type: 'object', properties: { parent, size: { type: 'integer' } } };
  const check = await bodyCheck({ $ref: '#/components/schemas/Node' }, { components: { schemas: { Node } } });
  const codes = (value: unknown) => check(value).map(({ pointer, code }) => `${pointer} ${code}`);
  assert.deepEqual(codes({ parent: { parent: { parent: null, size: 'x' } } }), ['/parent/parent/size wrong_type']);
  assert.deepEqual(codes({ parent: { parent: 1 } }), ['/parent/parent no_match']);
});

test('unions inside of unions are settled as well', async () => {
  const inner = { oneOf: [cat, { type: 'string', maxLength: 1 }] };
  const schema = { anyOf: [{ type: 'object', properties: { pet: inner } }, { type: 'null' }] };
  assert.deepEqual(await codesOf(schema, { pet: 'xx' }), ['/m/pet too_long']);
  assert.deepEqual(await codesOf(schema, { pet: {} }), ['/m/pet/kind required', '/m/pet/lives required']);
});

test('a union that only requires members names them', async () => {
  const schema = { oneOf: [{ required: ['a'] }, { required: ['b', 'c'] }] };
  const check = await bodyCheck(schema);
  assert.deepEqual(check({}), [
    {
      in: 'body',
      param: '',
      pointer: '',
      code: 'no_match',
      message: 'Must have one of a, b with c.',
      constraint: schema,
    },
  ]);
  assert.deepEqual(check({ a: 1, b: 1, c: 1 }), [
    {
      in: 'body',
      param: '',
      pointer: '',
      code: 'ambiguous',
      message: 'Must have only one of a, b with c.',
      constraint: schema,
    },
  ]);
  const any = await bodyCheck({ anyOf: schema.oneOf });
  assert.equal(any({})[0]?.message, 'Must have at least one of a, b with c.');
});
