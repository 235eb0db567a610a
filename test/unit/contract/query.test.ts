import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../support/characters.ts';
import { queryReader, readerFor } from './parameter-reading.ts';

const limit = { schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } };

test('a whole number is written in one way only', async () => {
  const read = await queryReader(limit);
  for (const [text, code] of [
    ['0', 'too_small'],
    ['-1', 'too_small'],
    ['101', 'too_large'],
    ['99999999999999999999', 'too_large'],
    ['abc', 'wrong_type'],
    ['1e2', 'wrong_type'],
    ['007', 'wrong_type'],
    ['1.0', 'wrong_type'],
    ['+5', 'wrong_type'],
    ['%205', 'wrong_type'],
    ['0x10', 'wrong_type'],
    ['', 'wrong_type'],
    ['NaN', 'wrong_type'],
  ] as const)
    assert.deepEqual(read(`q=${text}`).violations, [`query q ${code}`], text);
  assert.deepEqual(read('q=1').violations, []);
  assert.deepEqual(read('q=100').violations, []);
});

test('a violation names the parameter and the violated keyword', async () => {
  const read = await queryReader(limit);
  assert.deepEqual(read('q=101').all, [
    { in: 'query', param: 'q', code: 'too_large', message: 'Must be at most 100.', constraint: { maximum: 100 } },
  ]);
});

test('a parameter given twice is refused, also inside of objects', async () => {
  assert.deepEqual((await queryReader(limit))('q=5&q=6').violations, ['query q duplicate']);
  assert.deepEqual((await queryReader(limit))('q=5&%71=6').violations, ['query q duplicate']);
  const object = { style: 'deepObject', schema: { type: 'object', properties: { a: { type: 'integer' } } } };
  const deep = await queryReader(object);
  assert.deepEqual(deep('q[a]=1&q[a]=2').violations, ['query q[a] duplicate']);
  assert.deepEqual(deep('q[a]=1&q[a][b]=2').violations, ['query q[a][b] duplicate']);
  assert.deepEqual(deep('q[a]=1&q=2').violations, ['query q duplicate']);
  const spread = await queryReader({ schema: object.schema });
  assert.deepEqual(spread('a=1&a=2').violations, ['query a duplicate']);
});

test('a list and a single value of one name do not mix', async () => {
  const read = await queryReader({ style: 'deepObject', schema: { type: 'array', items: { type: 'integer' } } });
  assert.deepEqual(read('q[]=1&q[x]=1').violations, ['query q[x] duplicate']);
  assert.deepEqual(read('q=1&q[]=2').values.query, { q: [1, 2] });
});

test('unknown parameters are refused, each once', async () => {
  const read = await queryReader(limit);
  assert.deepEqual(read('x=1&y=2&x=3').violations, ['query x unknown', 'query y unknown']);
  assert.deepEqual(read('Q=1').violations, ['query Q unknown']);
  assert.deepEqual(read('q[a]=1&q[=2').violations, ['query q[a] unknown', 'query q[ unknown']);
});

test('names that mean something in JavaScript are names', async () => {
  const read = await queryReader(limit);
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
    assert.deepEqual(read(`${name}=1`).violations, [`query ${name} unknown`], name);
  const declared = await readerFor([{ name: 'constructor', in: 'query', required: true, schema: { type: 'string' } }]);
  assert.deepEqual(declared({ query: 'constructor=x' }).violations, []);
  assert.deepEqual(declared({}).violations, ['query constructor required']);
  const open = await queryReader({ style: 'deepObject', schema: { type: 'object', additionalProperties: true } });
  assert.deepEqual(open('q[__proto__][admin]=1').violations, []);
  assert.equal(({} as { admin?: unknown }).admin, undefined);
});

test('escapes are decoded once, plus is a space, broken escapes are named', async () => {
  const read = await queryReader({ schema: { type: 'string' } });
  assert.equal(read('q=a+b%2Bc%2520').value, 'a b+c%20');
  assert.equal(read('q=caf%C3%A9').value, 'café');
  for (const query of ['q=%', 'q=%zz', 'q=%C3', 'q=%E0%80%80'])
    assert.deepEqual(read(query).violations, ['query q invalid'], query);
  assert.deepEqual(read('%zz=1').violations, ['query %zz=1 invalid']);
});

test('empty pairs say nothing, and a name alone has the empty value', async () => {
  const read = await queryReader({ schema: { type: 'string' } });
  assert.deepEqual(read('&&q=&').violations, []);
  assert.equal(read('q').value, '');
});

test('members of an open object parameter are not unknown', async () => {
  const read = await readerFor([
    { name: 'page', in: 'query', schema: { type: 'integer' } },
    {
      name: 'filters',
      in: 'query',
      schema: { type: 'object', additionalProperties: { type: 'string', maxLength: 3 } },
    },
  ]);
  assert.deepEqual(read({ query: 'page=2&color=red' }).values.query, { page: 2, filters: { color: 'red' } });
  assert.deepEqual(read({ query: 'color=green' }).violations, ['query filters.color too_long']);
});

test('defaults are sent on for absent parameters, and only for those', async () => {
  const read = await readerFor([
    { name: 'limit', in: 'query', schema: { type: 'integer', default: 20 } },
    { name: 'sort', in: 'query', schema: { type: 'string', default: 'a b&c' } },
    { name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' }, default: ['x', 'y'] } },
    {
      name: 'ids',
      in: 'query',
      explode: false,
      schema: { type: 'array', items: { type: 'integer' }, default: [1, 2] },
    },
    { name: 'none', in: 'query', schema: { type: 'array', items: { type: 'string' }, default: [] } },
    { name: 'no', in: 'query', schema: { type: 'string' } },
  ]);
  assert.equal(read({}).search, '?limit=20&sort=a%20b%26c&tags=x&tags=y&ids=1%2C2');
  assert.equal(read({ query: 'sort=z&no=%41&tags=q' }).search, '?sort=z&no=%41&tags=q&limit=20&ids=1%2C2');
  assert.equal(read({ query: 'limit=1&sort=z&tags=q&ids=5' }).search, '?limit=1&sort=z&tags=q&ids=5');
});

test('a semicolon is sent on encoded, since some servers take it for an ampersand', async () => {
  const read = await queryReader({ schema: { type: 'string', maxLength: 20 } });
  const { value, search, violations } = read('q=a;limit=100000');
  assert.deepEqual([value, search, violations], ['a;limit=100000', '?q=a%3Blimit=100000', []]);
  assert.equal(read('q=a%3bb').search, '?q=a%3bb');
  // Read as a name, it is one that no contract has.
  assert.deepEqual(read('limit=1;q=a').violations, ['query limit unknown']);
  assert.deepEqual(read('x;q=a').violations, ['query x;q unknown']);
});

test('a number that no double holds is not of its type, in any place', async () => {
  const number = { schema: { type: ['number', 'null'] } };
  const read = await readerFor(
    [
      { name: 'p', in: 'path', required: true, ...number },
      { name: 'q', in: 'query', schema: { type: 'integer', minimum: 0 } },
      { name: 'list', in: 'query', schema: { type: 'array', items: { type: 'number' } } },
      { name: 'json', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
      { name: 'h', in: 'header', ...number },
      { name: 'c', in: 'cookie', ...number },
    ],
    '/{p}',
  );
  const given = { path: ['-1e400'], headers: { h: '1e400', cookie: 'c=1e400' } };
  const { violations } = read({ ...given, query: `q=1${'0'.repeat(400)}&list=1e400&json={"a":1e400}` });
  assert.deepEqual([...violations].sort(), [
    'cookie c wrong_type',
    'header h wrong_type',
    'path p wrong_type',
    'query json wrong_type',
    'query list[0] wrong_type',
    'query q wrong_type',
  ]);
});

test('the checked values are those that URLSearchParams reads', async () => {
  const read = await readerFor([
    { name: 'a b', in: 'query', schema: { type: 'string' } },
    { name: 'é', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
  ]);
  fc.assert(
    fc.property(
      fc.option(fc.string({ unit: 'grapheme' })),
      fc.array(fc.string({ unit: anyCharacter, maxLength: 8 }), { maxLength: 5 }),
      (single, list) => {
        const search = new URLSearchParams(list.map((item): [string, string] => ['é', item]));
        if (single !== null) search.append('a b', single);
        const { values, violations } = read({ query: search.toString() });
        assert.deepEqual(violations, []);
        assert.equal(values.query?.['a b'] ?? null, search.get('a b'));
        assert.deepEqual(values.query?.é ?? [], search.getAll('é'));
      },
    ),
  );
});
