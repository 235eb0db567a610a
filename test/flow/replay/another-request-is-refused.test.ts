// One key is one request: any difference that could change what a server does makes it another request.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefusal } from '../../support/errors.ts';
import { createKeyedWorld, type KeyedRequest, type KeyedWorld, newKey } from './keyed.ts';

const either = { 'application/json': {}, 'application/merge-patch+json': {} };
const ok = { 200: { description: 'done', content: { 'application/json': {} } } };
const secured = { security: [{ apiKey: ['things:write'] }], requestBody: { content: either } };
const parameter = (name: string, schema: object) => ({ name, in: 'query', schema });
const id = { name: 'id', in: 'path', required: true, schema: {} };
const query = [parameter('a', {}), parameter('b', {}), parameter('size', { default: 'small' })];
const paths = {
  '/v1/parts': { post: { operationId: 'createPart', ...secured, parameters: query, responses: ok } },
  '/v1/parts/{id}': {
    parameters: [id],
    post: { operationId: 'copyPart', ...secured, responses: ok },
    patch: { operationId: 'updatePart', ...secured, responses: ok },
  },
};

const merge = { 'Content-Type': 'application/merge-patch+json' };
const different: Readonly<Record<string, readonly [KeyedRequest, KeyedRequest]>> = {
  'a byte of the body': [{ body: '{"n":1}' }, { body: '{"n":1.0}' }],
  'a body and none': [{ body: '{}' }, { body: '' }],
  'the media type': [{}, { headers: merge }],
  'a value in the query': [{ line: 'POST /v1/parts?a=1' }, { line: 'POST /v1/parts?a=2' }],
  'a name in the query': [{ line: 'POST /v1/parts?a=1' }, { line: 'POST /v1/parts?b=1' }],
  'the path': [{ line: 'POST /v1/parts/1' }, { line: 'POST /v1/parts/2' }],
  'the method': [{ line: 'POST /v1/parts/1' }, { line: 'PATCH /v1/parts/1' }],
};
const equal: Readonly<Record<string, readonly [KeyedRequest, KeyedRequest]>> = {
  'the order of the query': [{ line: 'POST /v1/parts?a=1&b=2' }, { line: 'POST /v1/parts?b=2&a=1' }],
  'a default of the contract': [{ line: 'POST /v1/parts' }, { line: 'POST /v1/parts?size=small' }],
  'the charset': [{}, { headers: { 'Content-Type': 'application/json; charset=utf-8' } }],
  'headers that say nothing about the write': [{}, { headers: { 'User-Agent': 'another', 'X-Request-Id': 'mine' } }],
};

describe('with one key', () => {
  let world: KeyedWorld;
  before(async () => {
    world = await createKeyedWorld({}, {}, paths);
    world.upstream.plays((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'),
    );
  });
  after(() => world.close());

  const both = async ([one, other]: readonly [KeyedRequest, KeyedRequest]) => {
    const key = newKey();
    const line = 'POST /v1/parts';
    assert.equal((await world.post({ key, line, ...one })).status, 200);
    return world.post({ key, line, ...other });
  };

  for (const [what, requests] of Object.entries(different)) {
    it(`${what} makes another request, which is refused`, async () => {
      const before = world.upstream.received.length;
      assertRefusal(await both(requests), 'idempotency_key_reused');
      assert.equal(world.upstream.received.length, before + 1);
    });
  }

  for (const [what, requests] of Object.entries(equal)) {
    it(`${what} makes no other request`, async () => {
      assert.equal((await both(requests)).headers['idempotent-replayed'], 'true');
    });
  }
});
