import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { queryReader, readerFor } from './parameter-reading.ts';

const integers = { type: 'array', items: { type: 'integer' } };
const color = {
  type: 'object',
  required: ['R'],
  additionalProperties: false,
  properties: { R: { type: 'integer' }, G: { type: 'integer' }, name: { type: 'string' } },
};

/** Style and explode of a query parameter, the text, and the value it stands for (OpenAPI 3.1.1, section 4.8.12.3). */
const queries: readonly [what: object, query: string, value: unknown][] = [
  [{ schema: integers }, 'q=1&q=2', [1, 2]],
  [{ schema: integers, explode: false }, 'q=1,2', [1, 2]],
  [{ schema: integers, explode: false }, 'q=1%2C2', [1, 2]],
  [{ schema: integers, explode: false }, 'q=', []],
  [{ schema: integers, style: 'spaceDelimited', explode: false }, 'q=1%202', [1, 2]],
  [{ schema: integers, style: 'spaceDelimited', explode: false }, 'q=1+2', [1, 2]],
  [{ schema: integers, style: 'spaceDelimited' }, 'q=1%202', [1, 2]],
  [{ schema: integers, style: 'spaceDelimited', explode: true }, 'q=1&q=2', [1, 2]],
  [{ schema: integers, style: 'pipeDelimited', explode: false }, 'q=1%7C2', [1, 2]],
  [{ schema: integers, style: 'pipeDelimited', explode: false }, 'q=1|2', [1, 2]],
  [{ schema: integers, style: 'pipeDelimited', explode: true }, 'q=1&q=2', [1, 2]],
  [{ schema: integers, style: 'deepObject', explode: true }, 'q[]=1&q[]=2', [1, 2]],
  [{ schema: integers, style: 'deepObject', explode: true }, 'q%5B0%5D=1&q%5B1%5D=2', [1, 2]],
  [{ schema: color }, 'R=100&G=200', { R: 100, G: 200 }],
  [{ schema: color, explode: false }, 'q=R,100,name,x%20y', { R: 100, name: 'x y' }],
  [{ schema: color, style: 'spaceDelimited', explode: false }, 'q=R%20100%20G%20200', { R: 100, G: 200 }],
  [{ schema: color, style: 'pipeDelimited', explode: false }, 'q=R%7C100%7CG%7C200', { R: 100, G: 200 }],
  [{ schema: color, style: 'deepObject', explode: true }, 'q%5BR%5D=100&q[name]=5', { R: 100, name: '5' }],
  [{ content: { 'application/json': { schema: color } } }, 'q=%7B%22R%22%3A1%7D', { R: 1 }],
  [{ content: { 'application/json': { schema: integers } } }, 'q=[1,2]', [1, 2]],
  [{ schema: { type: 'boolean' } }, 'q=true', true],
  [{ schema: { type: ['integer', 'null'] } }, 'q=5', 5],
  [{ schema: { type: 'number' } }, 'q=-1.5e3', -1500],
  [{ schema: { type: 'string' } }, 'q=007', '007'],
  [{ schema: { enum: [1, 2] } }, 'q=2', 2],
  [{ schema: { anyOf: [{ type: 'integer' }, color] }, style: 'deepObject' }, 'q=5', 5],
  [{ schema: { anyOf: [{ type: 'integer' }, color] }, style: 'deepObject' }, 'q[R]=5', { R: 5 }],
  [
    {
      schema: {
        oneOf: [
          { type: 'string', pattern: '^x' },
          { type: 'array', items: { type: 'string' } },
        ],
      },
    },
    'q=a',
    ['a'],
  ],
];

describe('a query parameter becomes the value of its style', () => {
  for (const [what, query, value] of queries) {
    test(`${query} as ${JSON.stringify(what).slice(0, 90)}`, async () => {
      const reading = (await queryReader(what))(query);
      assert.deepEqual(reading.value, value);
      assert.deepEqual(reading.violations, []);
    });
  }
});

test('path parameters know simple, label and matrix', async () => {
  for (const [what, text, value] of [
    [{ schema: { type: 'integer' } }, '5', 5],
    [{ schema: integers }, '1,2', [1, 2]],
    [{ schema: color }, 'R,1,G,2', { R: 1, G: 2 }],
    [{ schema: color, explode: true }, 'R=1,G=2', { R: 1, G: 2 }],
    [{ schema: { type: 'integer' }, style: 'label' }, '.5', 5],
    [{ schema: integers, style: 'label' }, '.1,2', [1, 2]],
    [{ schema: integers, style: 'label', explode: true }, '.1.2', [1, 2]],
    [{ schema: color, style: 'label', explode: true }, '.R=1.G=2', { R: 1, G: 2 }],
    [{ schema: color, style: 'label' }, '.R,1,G,2', { R: 1, G: 2 }],
    [{ schema: { type: 'integer' }, style: 'matrix' }, ';p=5', 5],
    [{ schema: { type: 'string' }, style: 'matrix' }, ';p', ''],
    [{ schema: integers, style: 'matrix' }, ';p=1,2', [1, 2]],
    [{ schema: integers, style: 'matrix' }, ';p', []],
    [{ schema: integers, style: 'matrix', explode: true }, ';p=1;p=2', [1, 2]],
    [{ schema: color, style: 'matrix' }, ';p=R,1,G,2', { R: 1, G: 2 }],
    [{ schema: color, style: 'matrix', explode: true }, ';R=1;G=2', { R: 1, G: 2 }],
  ] as const) {
    const read = await readerFor([{ name: 'p', in: 'path', required: true, ...what }], '/{p}');
    const reading = read({ path: [text] });
    assert.deepEqual(reading.values.path?.p, value, text);
    assert.deepEqual(reading.violations, [], text);
  }
});

test('path parameters are split before they are decoded', async () => {
  const texts = { type: 'array', items: { type: 'string' } };
  for (const [what, rawPath, value] of [
    [{ schema: texts }, '/a%2Cb,c', ['a,b', 'c']],
    [{ schema: texts, style: 'label' }, '/.a%2Cb,c', ['a,b', 'c']],
    [{ schema: texts, style: 'matrix', explode: true }, '/;p=a%3Bp%3Db;p=c%2C%20d', ['a;p=b', 'c, d']],
    [{ schema: color, style: 'matrix', explode: true }, '/;R=1;name=%C3%A4%3B', { R: 1, name: 'ä;' }],
  ] as const) {
    const read = await readerFor([{ name: 'p', in: 'path', required: true, ...what }], '/{p}');
    const reading = read({ path: [decodeURIComponent(rawPath.slice(1))], rawPath });
    assert.deepEqual(reading.values.path?.p, value, rawPath);
    assert.deepEqual(reading.violations, [], rawPath);
  }
});

test('path parameters that do not have the form of their style are refused', async () => {
  for (const [what, rawPath] of [
    [{ schema: { type: 'integer' }, style: 'label' }, '/5'],
    [{ schema: { type: 'integer' }, style: 'matrix' }, '/5'],
    [{ schema: { type: 'integer' }, style: 'matrix' }, '/%3Bp%3D5'],
    [{ schema: { type: 'integer' }, style: 'matrix' }, '/;q=5'],
    [{ schema: { type: 'integer' }, style: 'matrix' }, '/;p=5;p=6'],
    [{ schema: { type: 'integer' }, style: 'matrix' }, '/;p=5;admin'],
    [{ schema: integers, style: 'matrix' }, '/;p=1;p=2'],
    [{ schema: color, style: 'matrix', explode: true }, '/;R=1;R=2'],
    [{ schema: color, style: 'matrix' }, '/;p=R'],
    [{ schema: color, explode: true }, '/R'],
    [{ schema: integers }, '/1;2'],
  ] as const) {
    const read = await readerFor([{ name: 'p', in: 'path', required: true, ...what }], '/{p}');
    const { violations } = read({ path: [decodeURIComponent(rawPath.slice(1))], rawPath });
    assert.equal(violations[0], 'path p wrong_format', rawPath);
  }
  const read = await readerFor([{ name: 'p', in: 'path', schema: color, style: 'matrix', explode: true }], '/{p}');
  assert.match(read({ path: ['5'] }).all[0]?.message ?? '', /in style matrix, such as ;a=1;b=2\./);
});

test('parameters in parts of segments and in the rest of a path keep their separators', async () => {
  const texts = { type: 'array', items: { type: 'string' } };
  const at = (name: string, more: object = {}) => ({ name, in: 'path', required: true, schema: texts, ...more });
  const parameters = [at('rest', { 'x-gateway-path': 'rest', schema: {} }), at('ids'), at('c', { style: 'matrix' })];
  const read = await readerFor(parameters, '/{rest}/of/{ids}.csv/map{c}');
  const reading = read({ path: ['x/y', 'a,b,c', ';c=d'], rawPath: '/x/y/of/a,b%2Cc.csv/map;c=d' });
  assert.deepEqual(reading.values.path, { rest: 'x/y', ids: ['a', 'b,c'], c: ['d'] });
  assert.deepEqual(reading.violations, []);
});

test('header parameters are found in any case, and lists may have spaces', async () => {
  const read = await readerFor([
    { name: 'X-Trace-Level', in: 'header', required: true, schema: { type: 'integer', maximum: 3 } },
    { name: 'X-Parts', in: 'header', schema: integers },
    { name: 'X-Color', in: 'header', schema: color },
  ]);
  const { values, violations } = read({ headers: { 'x-trace-level': '2', 'x-parts': '1, 2', 'x-color': 'R,1, G,2' } });
  assert.deepEqual(values.header, { 'x-trace-level': 2, 'x-parts': [1, 2], 'x-color': { R: 1, G: 2 } });
  assert.deepEqual(violations, []);
  assert.deepEqual(read({}).violations, ['header x-trace-level required']);
  assert.deepEqual(read({ headers: { 'x-trace-level': '9' } }).violations, ['header x-trace-level too_large']);
});

test('header parameters called Accept, Content-Type and Authorization are ignored', async () => {
  const read = await readerFor(
    ['Accept', 'content-type', 'Authorization'].map((name) => ({
      ...{ name, in: 'header', required: true },
      schema: { const: 'x' },
    })),
  );
  assert.deepEqual(read({}).violations, []);
});

test('cookie parameters are read from among the others', async () => {
  const read = await readerFor([{ name: 'tab', in: 'cookie', required: true, schema: { type: 'integer' } }]);
  assert.deepEqual(read({ headers: { cookie: 'a=b=c; tab=3; tabs; x' } }).values.cookie, { tab: 3 });
  assert.deepEqual(read({ headers: { cookie: 'tabX' } }).violations, ['cookie tab required']);
  assert.deepEqual(read({}).violations, ['cookie tab required']);
});

test('keywords beside the reference of a schema count', async () => {
  const components = { schemas: { Size: { type: 'integer', minimum: 1 } } };
  const schema = { $ref: '#/components/schemas/Size', maximum: 10, default: 5 };
  const read = await readerFor([{ name: 'size', in: 'query', schema }], '/', { components });
  assert.deepEqual(read({ query: 'size=11' }).violations, ['query size too_large']);
  assert.deepEqual(read({ query: 'size=0' }).violations, ['query size too_small']);
  assert.equal(read({}).search, '?size=5');
});

test('JSON in a parameter obeys the rules for JSON in a body', async () => {
  const read = await queryReader({ content: { 'application/json': { schema: color } } });
  assert.deepEqual(read('q=%7B%22R%22:1,%22R%22:2%7D').violations, ['query q wrong_type']);
  assert.deepEqual(read('q=%7B').violations, ['query q wrong_type']);
  assert.deepEqual(read('q=%7B%22R%22:%22x%22%7D').violations, ['query q.R wrong_type']);
});
