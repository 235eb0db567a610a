// Declarations of foreign documents that are easy to overlook: `allowEmptyValue`, and media types with parameters.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ForeignGateway, serveForeign } from './foreign-gateway.ts';

const answers = { responses: { 200: { description: 'Done.' } } };
const query = (name: string, schema: object, more: object = {}) => ({ name, in: 'query', schema, ...more });
const empty = { allowEmptyValue: true };
const body = (required: string) => ({ schema: { type: 'object', required: [required] } });
const document = {
  openapi: '3.1.0',
  info: { title: 'Declarations', version: '1' },
  paths: {
    '/empty': {
      get: {
        parameters: [
          query('count', { type: 'integer', minimum: 5 }, { ...empty, required: true }),
          query('kind', { enum: ['a', 'b'] }, empty),
          query('list', { type: 'array', minItems: 1, items: { type: 'integer' } }, empty),
          query('joined', { type: 'array', minItems: 1, items: { type: 'integer' } }, { ...empty, explode: false }),
          query('strict', { type: 'integer' }),
          query('never', { type: 'integer' }, { allowEmptyValue: false }),
        ],
        ...answers,
      },
    },
    '/versions': {
      post: {
        requestBody: {
          content: { 'application/json;version=1': body('one'), 'application/json; Version="2"': body('two') },
        },
        ...answers,
      },
    },
    '/common': {
      post: {
        requestBody: { content: { 'application/json; charset=utf-8': body('one'), 'text/*': {} } },
        ...answers,
      },
    },
  },
};

describe('a declaration of a foreign document', () => {
  let foreign: ForeignGateway;
  before(async () => {
    foreign = await serveForeign(document);
  });
  after(() => foreign.stop());

  it('allows an empty value where it says so', async () => {
    const get = async (search: string) => (await foreign.send('GET', `/empty?${search}`)).violations;
    for (const search of [
      'count=',
      'count',
      'count=5',
      'count=&kind=',
      'count=&list=',
      'count=&joined=',
      'count=&list=1&list=2',
    ])
      assert.equal(await get(search), undefined, search);
    assert.deepEqual(await get('count=4'), ['query count too_small']);
    assert.deepEqual(await get('count=x'), ['query count wrong_type']);
    assert.deepEqual(await get('kind='), ['query count required']);
    assert.deepEqual(await get('count=&kind=c'), ['query kind not_allowed']);
    assert.deepEqual(await get('count=&strict='), ['query strict wrong_type']);
    assert.deepEqual(await get('count=&never='), ['query never wrong_type']);
    assert.deepEqual(await get('count=&count='), ['query count duplicate']);
    assert.deepEqual(await get('count=&list=&list=1'), ['query list duplicate']);
    assert.equal((await foreign.send('GET', '/empty?count=&kind=')).reached?.url, '/empty?count=&kind=');
  });

  it('distinguishes media types by their parameters', async () => {
    const post = (type: string, member: string, path = '/versions') =>
      foreign.send('POST', path, { body: { [member]: 1 }, type });
    assert.equal((await post('application/json;version=1', 'one')).status, 200);
    assert.equal((await post('application/json; version="1"; charset=utf-8', 'one')).status, 200);
    assert.equal((await post('Application/JSON; VERSION=2', 'two')).status, 200);
    assert.deepEqual((await post('application/json;version=2', 'one')).violations, ['body /two required']);
    for (const type of [
      'application/json',
      'application/json;version=3',
      'application/json;versions=1',
      'text/plain;version=1',
    ])
      assert.equal((await post(type, 'one')).code, 'unsupported_media_type', type);
    // How a body is written is no other type.
    for (const type of ['application/json', 'application/json;charset=UTF-8', 'application/json; version=7'])
      assert.deepEqual((await post(type, 'two', '/common')).violations, ['body /one required'], type);
    assert.equal((await post('text/csv; header=present', 'one', '/common')).status, 200);
  });
});
