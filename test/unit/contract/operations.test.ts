import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileDocument, documentOf } from './compiled.ts';

const responses = { 200: { description: 'fine' } };

async function operationOf(path: string, item: object, document: object = {}, says: object = {}) {
  const compiled = await compileDocument({ ...documentOf({ [path]: item }), ...document }, { public: true, ...says });
  const [entry] = compiled.operations;
  return { ...compiled, entry, operation: entry?.operation };
}

test('the path of the first server stands before every path', async () => {
  for (const [servers, prefix] of [
    [undefined, ''],
    [[{ url: '/' }], ''],
    [[{ url: 'https://api.example.com/v2/' }, { url: '/v3' }], '/v2'],
    [[{ url: '/base' }], '/base'],
    [[{ url: 'https://{host}/{version}', variables: { host: { default: 'a.b' }, version: { default: 'v4' } } }], '/v4'],
  ] as const) {
    const { operation } = await operationOf('/it', { get: { responses } }, servers ? { servers } : {});
    assert.deepEqual(
      [operation?.path, operation?.publicPrefix, operation?.upstreamPrefix],
      [`${prefix}/it`, prefix, prefix],
    );
  }
});

test('the base path of the entry takes its place toward clients', async () => {
  const { operation } = await operationOf(
    '/it',
    { get: { responses } },
    { servers: [{ url: '/api/v2' }] },
    { basePath: '/v1/billing' },
  );
  assert.deepEqual(
    [operation?.path, operation?.version, operation?.publicPrefix, operation?.upstreamPrefix],
    ['/v1/billing/it', 'v1', '/v1/billing', '/api/v2'],
  );
});

test('an operation without a name is called by method and path', async () => {
  assert.equal(
    (await operationOf('/it/{id}', { get: { responses, parameters: [path('id')] } })).operation?.id,
    'GET /it/{id}',
  );
});

test('parameters of the operation override parameters of the path with the same name and place', async () => {
  const { entry } = await operationOf('/{id}', {
    parameters: [
      path('id'),
      { name: 'q', in: 'query', schema: { type: 'integer' } },
      { name: 'q', in: 'header', schema: {} },
    ],
    get: { responses, parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }] },
  });
  assert.deepEqual(
    entry?.parameters.map(({ value, pointer }) => [(value as { in: string }).in, pointer]),
    [
      ['path', '/paths/~1{id}/parameters/0'],
      ['query', '/paths/~1{id}/get/parameters/0'],
      ['header', '/paths/~1{id}/parameters/2'],
    ],
  );
});

test('declared headers cross in both directions', async () => {
  const headers = { 'X-Total': { schema: { type: 'integer' } } };
  const { operation } = await operationOf(
    '/it',
    {
      get: {
        parameters: [
          { name: 'X-Trace', in: 'header', schema: {} },
          { name: 'Accept', in: 'header', schema: {} },
        ],
        responses: { 200: { description: 'fine', headers }, default: { $ref: '#/components/responses/No' } },
      },
    },
    { components: { responses: { No: { description: 'no', headers: { 'X-Reason': { schema: {} } } } } } },
  );
  assert.deepEqual(operation?.requestHeaders, ['x-trace']);
  assert.deepEqual([...(operation?.responseHeaders ?? [])], ['x-total', 'x-reason']);
});

test('a path item and operations elsewhere are found by reference', async () => {
  const { operation } = await operationOf(
    '/it',
    { $ref: '#/components/pathItems/It' },
    {
      components: { pathItems: { It: { get: { operationId: 'its', responses } } } },
    },
  );
  assert.equal(operation?.id, 'its');
});

test('JSON is not streamed', async () => {
  const requestBody = { content: { 'text/csv': {}, 'application/it+json': {} } };
  const stream = await operationOf('/it', { post: { responses, requestBody, 'x-gateway-body': 'stream' } });
  assert.deepEqual(
    stream.mistakes.map(({ reason }) => reason),
    ['a body of type application/it+json is checked, so it cannot be streamed.'],
  );
});

test('a parameter for the query as a whole is refused, because it cannot be checked', async () => {
  const parameters = [{ name: 'all', in: 'querystring', content: { 'application/json': { schema: {} } } }];
  const { mistakes } = await operationOf('/it', { get: { responses, parameters } }, { openapi: '3.2.0' });
  assert.match(mistakes[0]?.reason ?? '', /describes the query as a whole/);
});

test('each JSON media type of a body has its own schema', async () => {
  const schema = (name: string) => ({ schema: { type: 'object', required: [name] } });
  const content = {
    'application/json': schema('a'),
    'application/merge-patch+json': schema('b'),
    'text/csv': schema('c'),
  };
  const { entry, schemas } = await operationOf('/it', { post: { responses, requestBody: { content } } });
  assert.ok(entry);
  const { bodies } = schemas.request(entry);
  assert.deepEqual([...bodies.keys()], ['application/json', 'application/merge-patch+json']);
  assert.equal(bodies.get('application/json')?.({ a: 1 }, 0).length, 0);
  assert.equal(bodies.get('application/merge-patch+json')?.({ a: 1 }, 0).length, 1);
});

function path(name: string) {
  return { name, in: 'path', required: true, schema: { type: 'string' } };
}

test('documents of 3.0, 3.1 and 3.2 load', async () => {
  for (const openapi of ['3.0.4', '3.1.1', '3.2.0']) {
    const { operation, mistakes } = await operationOf('/it', { get: { operationId: 'it', responses } }, { openapi });
    assert.deepEqual([operation?.id, mistakes], ['it', []], openapi);
  }
  const search = await operationOf('/it', { query: { operationId: 'search', responses } }, { openapi: '3.2.0' });
  assert.equal(search.operation?.method, 'QUERY');
});
