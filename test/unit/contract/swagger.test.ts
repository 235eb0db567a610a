import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { convertSwagger, toSwaggerPlace } from '../../../gateway/contract/reading/swagger.ts';
import { compileDocument } from './compiled.ts';

const responses = { 200: { description: 'fine' } };
const swagger = (paths: object, rest: object = {}) => ({
  swagger: '2.0',
  info: { title: 'It', version: '1' },
  paths,
  ...rest,
});
const form = (...fields: object[]) => fields.map((field) => ({ in: 'formData', type: 'string', ...field }));

/** The operation POST /a of a converted document, and the losses. */
async function converted(post: object, rest: object = {}) {
  const { root, losses } = await convertSwagger(swagger({ '/a': { post: { responses, ...post } } }, rest));
  const operation = (root as { paths: Record<string, { post: Record<string, unknown> }> }).paths['/a']?.post as {
    requestBody: { required?: boolean; content: Record<string, object> };
    parameters: object[];
    responses: Record<string, { content: object }>;
  };
  return { root, operation, losses };
}

describe('a Swagger 2.0 document', () => {
  it('keeps host and base path, however they are written', async () => {
    const serversOf = async (rest: object) => (await converted({}, rest)).root.servers;
    assert.deepEqual(await serversOf({ host: 'a.example', basePath: '/v1' }), [{ url: 'http://a.example/v1' }]);
    const odd = { host: 'https://a.example/', basePath: 'v1/', schemes: ['https'] };
    assert.deepEqual(await serversOf(odd), [{ url: 'https://a.example/v1' }]);
    assert.deepEqual(await serversOf({ basePath: '/v1' }), [{ url: '/v1' }]);
    assert.equal(await serversOf({ basePath: '/' }), undefined);
  });

  it('gives each operation the body of its path and of shared parameters', async () => {
    const shared = { in: 'body', name: 'b', required: true, schema: { type: 'object' } };
    const { root } = await convertSwagger(
      swagger(
        {
          '/a': { put: { responses }, parameters: [{ $ref: '#/parameters/B' }] },
          '/b': { put: { parameters: [{ $ref: '#/parameters/B' }], responses } },
        },
        { parameters: { B: shared } },
      ),
    );
    const paths = root.paths as Record<string, { put: { requestBody: object } }>;
    const body = { content: { 'application/json': { schema: { type: 'object' } } }, required: true };
    assert.deepEqual(paths['/a']?.put.requestBody, body);
    assert.deepEqual(paths['/b']?.put.requestBody, body);
  });

  it('that takes a form without saying how takes both kinds, and only multipart with a file', async () => {
    const plain = await converted({ parameters: form({ name: 'a', required: true }) });
    assert.deepEqual(Object.keys(plain.operation.requestBody.content), [
      'application/x-www-form-urlencoded',
      'multipart/form-data',
    ]);
    assert.equal(plain.operation.requestBody.required, true);
    assert.deepEqual(plain.losses[0]?.path, ['paths', '/a', 'post']);
    const file = await converted({ parameters: form({ name: 'a', type: 'file' }) });
    assert.deepEqual(Object.keys(file.operation.requestBody.content), ['multipart/form-data']);
    assert.equal(file.operation.requestBody.required, undefined);
    const said = await converted({ consumes: ['multipart/form-data'], parameters: form({ name: 'a' }) });
    assert.deepEqual(said.losses, []);
  });

  it('names the lists that are passed on unchecked', async () => {
    const list = { in: 'query', type: 'array', items: { type: 'integer' } };
    const { operation, losses } = await converted({
      parameters: [
        { name: 'tabs', collectionFormat: 'tsv', ...list },
        { name: 'commas', ...list },
        { name: 'bars', collectionFormat: 'pipes', ...list },
        { name: 'nested', ...list, items: { type: 'array', items: { type: 'integer' } } },
      ],
    });
    assert.deepEqual(operation.parameters, [
      { name: 'tabs', in: 'query', schema: { type: 'string' } },
      {
        name: 'commas',
        in: 'query',
        style: 'form',
        explode: false,
        schema: { type: 'array', items: { type: 'integer' } },
      },
      {
        ...{ name: 'bars', in: 'query', style: 'pipeDelimited', explode: false },
        schema: { type: 'array', items: { type: 'integer' } },
      },
      {
        name: 'nested',
        in: 'query',
        style: 'form',
        explode: false,
        schema: { type: 'array', items: { type: 'string' } },
      },
    ]);
    assert.deepEqual(
      losses.map(({ path }) => path.at(-1)),
      [0, 3],
    );
  });

  it('keeps all media types of its answers, and any for a file', async () => {
    const produces = ['application/json', 'application/xml'];
    const examples = { 'application/json': {} };
    const both = await converted({ produces, responses: { 200: { description: '', schema: {}, examples } } });
    assert.deepEqual(Object.keys(both.operation.responses[200]?.content as object), produces);
    const file = await converted({ responses: { 200: { description: '', schema: { type: 'file' } } } });
    assert.deepEqual(Object.keys(file.operation.responses[200]?.content as object), ['*/*']);
  });

  it('stays as it was itself, with schemas that YAML aliases share', async () => {
    const shared = { type: 'string', 'x-nullable': true };
    const document = swagger({}, { definitions: { A: shared, B: { properties: { a: shared } } } });
    const before = structuredClone(document);
    const { root } = await convertSwagger(document);
    assert.deepEqual(document, before);
    const nullable = { type: 'string', nullable: true };
    assert.deepEqual(root.components, { schemas: { A: nullable, B: { properties: { a: nullable } } } });
  });

  it('is loaded with a file as its answer, and with an unquoted version', async () => {
    const get = { responses: { 200: { description: 'a file', schema: { type: 'file' } } } };
    const { mistakes, operations } = await compileDocument({ ...swagger({ '/a': { get } }), swagger: 2 });
    assert.deepEqual(mistakes, []);
    assert.equal(operations.length, 1);
  });
});

describe('a place of a converted document', () => {
  const cases: [string, string][] = [
    ['components.schemas.A.properties.b', 'definitions.A.properties.b'],
    ['components.securitySchemes.key', 'securityDefinitions.key'],
    ['components', ''],
    ['servers.0.url', 'basePath'],
    ['paths./a.post.requestBody.content.application/json.schema', 'paths./a.post.parameters'],
    ['paths./a.post.parameters.3.schema', 'paths./a.post.parameters'],
    ['paths./a.get.responses.200.content.application/json.schema.type', 'paths./a.get.responses.200.schema.type'],
    ['paths./a.get.security.0', 'paths./a.get.security.0'],
  ];
  for (const [here, there] of cases) {
    // No name in these places has a dot except for media types, which have none either.
    it(`${here} is ${there || 'the document'}`, () => assert.equal(toSwaggerPlace(here.split('.')).join('.'), there));
  }
});
