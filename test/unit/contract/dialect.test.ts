import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyCheck, compileDocument, documentOf } from './compiled.ts';

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

test('a reference may name a schema by its address, in every spelling', async () => {
  const pet = {
    $id: 'https://it.test/schemas/pet',
    type: 'object',
    properties: { name: { $ref: '#/$defs/name' }, age: { $ref: '#age' }, size: { $ref: '#/components/schemas/Size' } },
    $defs: { name: { type: 'string' }, years: { $anchor: 'age', type: 'integer' } },
  };
  const pets = { $id: 'https://it.test/schemas/pets', type: 'array', items: { $ref: 'pet' } };
  const schemas = { Pet: pet, Pets: pets, Size: { type: 'integer' } };
  for (const [reference, valid, invalid, ...wrong] of [
    [
      'https://it.test/schemas/pet',
      { name: 'a', age: 1, size: 1 },
      { name: 1, age: 'a', size: 'a' },
      '/name',
      '/age',
      '/size',
    ],
    ['#/components/schemas/Pet', { name: 'a' }, { name: 1 }, '/name'],
    ['https://it.test/schemas/pets', [{ name: 'a' }], [{ name: 1 }], '/0/name'],
    ['https://it.test/schemas/pet#age', 1, 'a', ''],
    ['https://it.test/schemas/pet#/$defs/name', 'a', 1, ''],
  ] as const) {
    const check = await bodyCheck({ $ref: reference }, { components: { schemas } });
    assert.deepEqual(check(valid), [], reference);
    assert.deepEqual(
      places(check(invalid)),
      wrong.map((pointer) => `${pointer} wrong_type`),
      reference,
    );
  }
  const relative = { ...schemas, Pet: { ...pet, $id: 'pet' }, Pets: { ...pets, $id: '/pets' } };
  const check = await bodyCheck({ $ref: '/pets' }, { components: { schemas: relative } });
  assert.deepEqual(places(check([{ name: 1 }])), ['/0/name wrong_type']);
});

test('a name that no schema has, and a member that is called like a keyword, mean what they say', async () => {
  const named = await bodyCheck({ type: 'object', properties: { $id: { type: 'string' }, $anchor: { const: 'a' } } });
  assert.deepEqual(places(named({ $id: 1, $anchor: 'b' })), ['/$id wrong_type', '/$anchor not_allowed']);
  const content = { 'application/json': { schema: { $ref: 'https://it.test/none', $id: 'https://it.test/own' } } };
  const { mistakes } = await compileDocument(
    documentOf({ '/': { post: { requestBody: { content }, responses: {} } } }),
  );
  assert.match(mistakes[0]?.reason ?? '', /other hosts are not asked/);
});

test('a dynamic reference leads to the one schema that it can mean', async () => {
  const Tree = {
    $dynamicAnchor: 'node',
    type: 'object',
    properties: { data: { type: 'integer' }, below: { type: 'array', items: { $dynamicRef: '#node' } } },
  };
  const tree = await bodyCheck({ $ref: '#/components/schemas/Tree' }, { components: { schemas: { Tree } } });
  assert.deepEqual(tree({ below: [{ data: 1 }] }), []);
  assert.deepEqual(places(tree({ below: [{ data: 'a' }] })), ['/below/0/data wrong_type']);
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
