// Deep objects: lists in them in every usual spelling, by the types that their schemas have at each depth.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryReader, readerFor } from './parameter-reading.ts';

const integer = { type: 'integer' };
const filter = {
  style: 'deepObject',
  explode: true,
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      ids: { type: 'array', items: integer, maxItems: 3 },
      names: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }] },
      range: { type: 'object', properties: { gte: integer, in: { type: 'array', items: integer } } },
      items: { type: 'array', items: { type: 'object', properties: { id: integer, tags: { type: 'array' } } } },
      map: { type: 'object', additionalProperties: { type: 'array', items: integer } },
      labels: { type: 'object', patternProperties: { '^n_': integer }, additionalProperties: { type: 'string' } },
      child: { $ref: '#/components/schemas/Node' },
      any: {},
    },
  },
};
const Node = {
  type: 'object',
  properties: { value: integer, child: { $ref: '#/components/schemas/Node' } },
};

async function reader() {
  const read = await readerFor([{ name: 'q', in: 'query', ...filter }], '/', { components: { schemas: { Node } } });
  return (query: string) => {
    const { values, violations } = read({ query });
    return violations.length > 0 ? violations : values.query?.q;
  };
}

test('a list is written with empty brackets, with numbers, or by repetition', async () => {
  const read = await reader();
  for (const query of [
    'q[ids][]=1&q[ids][]=2',
    'q[ids][0]=1&q[ids][1]=2',
    'q[ids][3]=1&q[ids][7]=2',
    'q[ids]=1&q[ids]=2',
    'q%5Bids%5D%5B%5D=1&q[ids][]=2',
  ])
    assert.deepEqual(read(query), { ids: [1, 2] }, query);
  assert.deepEqual(read('q[names]=a'), { names: 'a' });
  assert.deepEqual(read('q[names][]=a'), { names: ['a'] });
  assert.deepEqual(read('q[range][in][]=5&q[range][gte]=4'), { range: { in: [5], gte: 4 } });
  assert.deepEqual(read('q[map][0][]=5&q[map][x]=6'), { map: { 0: [5], x: [6] } });
  assert.deepEqual(read('q[any][]=5'), { any: ['5'] });
  assert.deepEqual(read('q[any][a][b]=5'), { any: { a: { b: '5' } } });
});

test('an item that is an object has its members from several pairs', async () => {
  const read = await reader();
  assert.deepEqual(read('q[items][0][id]=1&q[items][1][id]=2&q[items][0][tags][]=a'), {
    items: [{ id: 1, tags: ['a'] }, { id: 2 }],
  });
  assert.deepEqual(read('q[items][][id]=1&q[items][][tags][]=a&q[items][][id]=2'), {
    items: [{ id: 1, tags: ['a'] }, { id: 2 }],
  });
});

test('every member is checked by the schema of its depth', async () => {
  const read = await reader();
  assert.deepEqual(read('q[ids][]=x'), ['query q.ids[0] wrong_type']);
  assert.deepEqual(read('q[ids][]=1&q[ids][]=1&q[ids][]=1&q[ids][]=1'), ['query q.ids too_many_items']);
  assert.deepEqual(read('q[child][child][child][value]=x'), ['query q.child.child.child.value wrong_type']);
  assert.deepEqual(read('q[child][child][child][value]=7'), { child: { child: { child: { value: 7 } } } });
  assert.deepEqual(read('q[labels][n_a]=1&q[labels][b]=1'), { labels: { n_a: 1, b: '1' } });
  assert.deepEqual(read('q[other][]=1'), ['query q.other unknown']);
});

test('a parameter given twice, or in two forms, is refused', async () => {
  const read = await reader();
  assert.deepEqual(read('q[ids][0]=1&q[ids][0]=2'), ['query q[ids][0] duplicate']);
  assert.deepEqual(read('q[names]=a&q[names][]=b'), ['query q[names][] duplicate']);
  assert.deepEqual(read('q[ids][]=1&q[ids][x]=2'), ['query q[ids][x] duplicate']);
});

test('names that mean something in JavaScript are names', async () => {
  const read = await reader();
  for (const name of ['__proto__', 'constructor', 'toString'])
    assert.deepEqual(read(`q[any][${name}][x]=1`), JSON.parse(`{"any":{"${name}":{"x":"1"}}}`));
});

test('the depth is bounded', async () => {
  const read = await queryReader({ ...filter, schema: { type: 'object' } });
  const deep = (depth: number) => `q${'[a]'.repeat(depth)}=1`;
  assert.deepEqual(read(deep(32)).violations, []);
  assert.deepEqual(read(deep(33)).violations, [`query q${'[a]'.repeat(33)} unknown`]);
});
