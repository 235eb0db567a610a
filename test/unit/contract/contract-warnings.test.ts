import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ambiguousPaths, bufferedUploads } from '../../../gateway/contract/lint/contract-warnings.ts';
import { compileDocument, documentOf } from './compiled.ts';

const crossings = (...routes: string[]) =>
  ambiguousPaths(
    routes.map((route) => ({ method: route.split(' ')[0] as string, path: route.split(' ')[1] as string })),
  );

test('templates cross when each is the more special one somewhere', () => {
  assert.deepEqual(crossings('GET /a/{x}/c', 'GET /a/b/{y}'), [['/a/{x}/c', '/a/b/{y}']]);
  assert.deepEqual(crossings('GET /{x}/me', 'GET /books/{id}'), [['/{x}/me', '/books/{id}']]);
  assert.deepEqual(crossings('GET /a/{x}:go/{y}', 'GET /a/{x}/c'), [['/a/{x}:go/{y}', '/a/{x}/c']]);
});

test('a special case of another template does not cross it', () => {
  assert.deepEqual(crossings('GET /a/{x}', 'GET /a/b', 'GET /a/{x}:go', 'GET /a/{x}/{y}', 'GET /a/b/c'), []);
});

test('templates that no request matches both do not cross', () => {
  assert.deepEqual(crossings('GET /a/{x}/c', 'GET /b/{y}/{z}'), []);
  assert.deepEqual(crossings('GET /a/{x}:go/c', 'GET /a/stop/{y}'), []);
  assert.deepEqual(crossings('GET /a/{x}/c', 'POST /a/b/{y}'), []);
});

const answers = { responses: { 200: { description: 'fine' } } };
const takes = (operationId: string, content: object, more: object = {}) => ({
  post: { operationId, requestBody: { content }, ...answers, ...more },
});
const form = (properties: object) => ({ 'multipart/form-data': { schema: { type: 'object', properties } } });
const binary = { type: 'string', format: 'binary' };

test('operations that take files are found, and whether they can be streamed', async () => {
  const document = documentOf(
    {
      '/file': takes('file', form({ file: binary })),
      '/files': takes('files', form({ files: { type: 'array', items: { $ref: '#/components/schemas/File' } } })),
      '/django': takes('django', { 'application/json': {}, ...form({ picture: { type: 'string', format: 'uri' } }) }),
      '/bytes': takes('bytes', { 'application/octet-stream': {} }),
      '/image': takes('image', { 'image/png': {}, 'application/json; version=1': {} }),
      '/streamed': takes('streamed', form({ file: binary }), { 'x-gateway-body': 'stream' }),
      '/set': takes('set', form({ file: binary })),
      '/texts': takes('texts', form({ name: { type: 'string' }, mail: { type: 'string', format: 'email' } })),
      '/json': takes('json', { 'application/json': { schema: { properties: { file: binary } } } }),
      '/other': takes('other', {
        'text/csv': {},
        'application/xml': {},
        'application/soap+xml': {},
        '*/*': {},
        'application/jsonl': {},
      }),
      '/none': { get: { operationId: 'none', ...answers } },
    },
    { components: { schemas: { File: binary } } },
  );
  const { operations, mistakes } = await compileDocument(document, {
    public: true,
    operations: { set: { body: 'stream' } },
  });
  assert.deepEqual(mistakes, []);
  assert.deepEqual(
    bufferedUploads(operations).map(({ entry, canStream }) => [entry.operation.id, canStream]),
    [
      ['file', true],
      ['files', true],
      ['django', false],
      ['bytes', true],
      ['image', false],
    ],
  );
});
