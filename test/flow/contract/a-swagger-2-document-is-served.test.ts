// A Swagger 2.0 document, unmodified: its parameters, bodies, shared parts and forms are checked.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { serveForeign } from './foreign-gateway.ts';

const pets = {
  swagger: '2.0',
  info: { title: 'Pets', version: '1', 'x-logo': 'https://example.com/logo.png' },
  host: 'pets.example.com',
  basePath: '/api',
  schemes: ['https'],
  consumes: ['application/json'],
  produces: ['application/json'],
  securityDefinitions: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
  security: [{ key: [] }],
  parameters: { Limit: { in: 'query', name: 'limit', type: 'integer', maximum: 100 } },
  responses: { Missing: { description: 'There is none.', schema: { $ref: '#/definitions/Fault' } } },
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        parameters: [
          { $ref: '#/parameters/Limit' },
          { in: 'query', name: 'ids', type: 'array', items: { type: 'integer' }, collectionFormat: 'pipes' },
        ],
        responses: { 200: { description: 'Pets', schema: { type: 'array', items: { $ref: '#/definitions/Pet' } } } },
      },
      post: {
        operationId: 'addPet',
        parameters: [{ in: 'body', name: 'pet', required: true, schema: { $ref: '#/definitions/Pet' } }],
        responses: {
          201: { description: 'Added', schema: { $ref: '#/definitions/Pet' } },
          404: { $ref: '#/responses/Missing' },
        },
      },
    },
    '/pets/{id}/photo': {
      parameters: [{ in: 'path', name: 'id', type: 'integer', required: true }],
      put: {
        operationId: 'putPhoto',
        consumes: ['multipart/form-data'],
        parameters: [{ in: 'formData', name: 'photo', type: 'file', required: true }],
        responses: { 200: { description: 'Stored' } },
      },
    },
  },
  definitions: {
    Pet: {
      type: 'object',
      required: ['name', 'id'],
      properties: {
        id: { type: 'integer', readOnly: true },
        name: { type: 'string' },
        chip: { type: 'string', 'x-nullable': true },
      },
    },
    Fault: { type: 'object' },
  },
};

const served = await serveForeign(pets);
after(() => served.stop());

test('its base path is the path at the upstream, and its parameters are checked', async () => {
  const good = await served.send('GET', '/api/pets?limit=5&ids=1|2');
  assert.equal(good.status, 200);
  assert.equal(good.reached?.url, '/api/pets?limit=5&ids=1|2');
  const wrong = await served.send('GET', '/api/pets?limit=101&ids=1|x');
  assert.deepEqual(wrong.violations, ['query ids[1] wrong_type', 'query limit too_large']);
});

test('a body is checked by its definition', async () => {
  const added = await served.send('POST', '/api/pets', { body: { name: 'Bello', chip: null } });
  assert.equal(added.status, 200);
  const wrong = await served.send('POST', '/api/pets', { body: { id: 1, name: 2 } });
  assert.deepEqual(wrong.violations, ['body /id read_only', 'body /name wrong_type']);
  assert.equal((await served.send('POST', '/api/pets')).code, 'body_missing');
});

test('a form takes its media type only', async () => {
  const json = await served.send('PUT', '/api/pets/1/photo', { body: {} });
  assert.equal(json.code, 'unsupported_media_type');
});
