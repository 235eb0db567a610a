import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyCheck } from './compiled.ts';

const v30 = { openapi: '3.0.3' };
const places = (violations: readonly { pointer?: string; code: string }[]) =>
  violations.map(({ pointer, code }) => `${pointer} ${code}`);

test('nullable admits null in 3.0, and is no keyword in 3.1', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string', nullable: true, enum: ['x'] } } };
  const old = await bodyCheck(schema, v30);
  assert.deepEqual(old({ a: null }), []);
  assert.deepEqual(old({ a: 'x' }), []);
  assert.deepEqual(places(old({ a: 'y' })), ['/a not_allowed']);
  assert.deepEqual(places(old({ a: 1 })), ['/a wrong_type']);
  assert.deepEqual(places((await bodyCheck(schema))({ a: null })), ['/a wrong_type']);
});

test('nullable reaches past combined schemas, with and without a type', async () => {
  const components = {
    schemas: { Owner: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } },
  };
  const owner = { $ref: '#/components/schemas/Owner' };
  for (const schema of [
    { nullable: true, allOf: [owner] },
    { type: 'object', nullable: true, allOf: [owner] },
    { nullable: true, oneOf: [owner], description: 'x' },
    { nullable: true, anyOf: [owner, { type: 'integer' }] },
  ]) {
    const check = await bodyCheck({ type: 'object', properties: { owner: schema } }, { ...v30, components });
    assert.deepEqual(check({ owner: null }), [], JSON.stringify(schema));
    assert.deepEqual(check({ owner: { id: 1 } }), [], JSON.stringify(schema));
    assert.deepEqual(places(check({ owner: { id: 'x' } })), ['/owner/id wrong_type'], JSON.stringify(schema));
    assert.deepEqual(places(check({ owner: {} })), ['/owner/id required'], JSON.stringify(schema));
  }
});

test('boolean exclusive bounds are bounds in 3.0, numbers are in 3.1', async () => {
  const old = await bodyCheck(
    { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
    v30,
  );
  assert.deepEqual(places(old(0)), [' too_small']);
  assert.deepEqual(old(9), []);
  assert.deepEqual(places(old(10)), [' too_large']);
  assert.deepEqual(places((await bodyCheck({ type: 'number', exclusiveMinimum: 0 }))(0)), [' too_small']);
});

test('keywords beside a reference count in 3.1, and are ignored in 3.0', async () => {
  const components = { schemas: { Name: { type: 'string' } } };
  const schema = { $ref: '#/components/schemas/Name', maxLength: 1 };
  assert.deepEqual(places((await bodyCheck(schema, { components }))('ab')), [' too_long']);
  assert.deepEqual((await bodyCheck(schema, { ...v30, components }))('ab'), []);
});

test('members may be called like keywords', async () => {
  const names = [
    'nullable',
    'example',
    'examples',
    'default',
    'enum',
    'required',
    'properties',
    'exclusiveMinimum',
    'const',
  ];
  const member = { type: 'object', nullable: true, properties: { deep: { type: 'string', nullable: true } } };
  const properties = Object.fromEntries(names.map((name) => [name, member]));
  const check = await bodyCheck({ type: 'object', properties }, v30);
  for (const name of names) {
    assert.deepEqual(check({ [name]: null }), [], name);
    assert.deepEqual(check({ [name]: { deep: null } }), [], name);
    assert.deepEqual(places(check({ [name]: { deep: 1 } })), [`/${name}/deep wrong_type`], name);
  }
});

test('schemas may be called like keywords, and examples are left alone', async () => {
  const components = {
    schemas: { example: { type: 'string', nullable: true }, default: { $ref: '#/components/schemas/example' } },
  };
  const example = { nullable: true, type: 'string' };
  const check = await bodyCheck({ allOf: [{ $ref: '#/components/schemas/default' }], example }, { ...v30, components });
  assert.deepEqual(check(null), []);
  assert.deepEqual(example, { nullable: true, type: 'string' });
});

test('a read-only member is not demanded of a request, and not taken either', async () => {
  const components = { schemas: { Id: { type: 'integer', readOnly: true } } };
  for (const [what, schema] of Object.entries({
    plain: {
      type: 'object',
      required: ['id', 'name'],
      properties: { id: { type: 'integer', readOnly: true }, name: {} },
    },
    referred: {
      type: 'object',
      required: ['id', 'name'],
      properties: { id: { $ref: '#/components/schemas/Id' }, name: {} },
    },
    combined: {
      allOf: [
        { type: 'object', properties: { id: { type: 'integer', readOnly: true }, name: {} } },
        { required: ['id', 'name'] },
      ],
    },
  })) {
    const check = await bodyCheck(schema, { components });
    assert.deepEqual(check({ name: 'x' }), [], what);
    assert.deepEqual(places(check({})), ['/name required'], what);
    assert.deepEqual(places(check({ name: 'x', id: 1 })), ['/id read_only'], what);
    assert.deepEqual(places(check({ name: 'x', id: 'wrong' })), ['/id read_only'], what);
  }
});

test('a reference may name a schema instead of its place', async () => {
  const Size = { $anchor: 'size', type: 'integer' };
  const check = await bodyCheck({ properties: { size: { $ref: '#size' } } }, { components: { schemas: { Size } } });
  assert.deepEqual(check({ size: 1 }), []);
  assert.equal(check({ size: 'wide' }).length, 1);
});

test('a string of the format int-or-string may be an integer, in every version', async () => {
  const port = { type: 'string', format: 'int-or-string', nullable: true };
  for (const rest of [v30, {}]) {
    const check = await bodyCheck(
      { type: 'object', properties: { port, name: { type: 'string', format: 'x' } } },
      rest,
    );
    for (const value of [80, 'http', '80%']) assert.deepEqual(check({ port: value }), []);
    assert.deepEqual(places(check({ port: 1.5, name: 1 })), ['/port wrong_type', '/name wrong_type']);
  }
  const union = await bodyCheck({ format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] }, v30);
  assert.deepEqual(union(1), []);
  assert.deepEqual(places(union(true)), [' no_match']);
});
