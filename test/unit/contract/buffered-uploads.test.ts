import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bufferedUploads } from '../../../gateway/contract/lint/buffered-uploads.ts';
import { compileDocument, documentOf } from './compiled.ts';

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
