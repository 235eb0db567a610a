// `check` and `upstreams try` list what contracts say and the gateway does not enforce.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { UnenforcedPart } from '../../../gateway/contract/lint/unenforced.ts';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { runInProcess } from '../../support/in-process.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';

const xml = { schema: { $ref: '#/components/schemas/Thing' } };
const ok = (content: object) => ({ 200: { description: 'fine', content } });
const json = ok({ 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } });
const document = {
  openapi: '3.2.0',
  info: { title: 'Things', version: '1' },
  security: [{ apiKey: ['things:read'] }],
  components: {
    securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Thing: {
        type: 'object',
        properties: {
          phone: { type: 'string', format: 'phone', 'x-mask': true, 'x-enum-varnames': [] },
          mail: { type: 'string', format: 'email' },
          secret: { type: 'string', format: 'password', example: { format: 'none', 'x-none': 1 } },
          format: { type: 'string', pattern: '^(?!a)(.)\\1+$' },
          code: { type: 'string', pattern: '^[a-z]+$' },
          'x-name': { type: 'string' },
          parent: { $ref: '#/components/schemas/Thing' },
        },
      },
    },
  },
  paths: {
    '/things': {
      get: { operationId: 'list', 'x-weight': 3, responses: json },
      post: { operationId: 'add', requestBody: { content: { 'application/xml': xml } }, responses: json },
    },
    '/mixed': { post: { operationId: 'mix', requestBody: { content: { 'multipart/mixed': xml } }, responses: {} } },
    '/files': {
      get: {
        operationId: 'download',
        responses: ok({ 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }),
      },
    },
    '/lines': {
      get: {
        operationId: 'lines',
        responses: ok({
          'application/jsonl': { schema: { type: 'array' } },
          'text/csv': { schema: { type: 'string', maxLength: 9 } },
        }),
      },
    },
    '/items': {
      get: { operationId: 'items', responses: ok({ 'application/jsonl': { itemSchema: { type: 'object' } } }) },
    },
    '/plain': { get: { operationId: 'plain', responses: { 204: { description: 'none' } } } },
  },
};

function commandsOn(contract: object, live = 'http://127.0.0.1:9') {
  const directory = temporaryDirectory();
  writeConfiguration(directory, {
    contracts: { 'things.json': contract },
    upstreams: { things: { contracts: ['things.json'], live } },
  });
  const environment = {
    ...environmentOf(directory),
    GATEWAY_DATA: join(directory, 'data'),
  };
  return (...words: string[]) => runInProcess(words, { environment });
}

const lines = [
  'request bodies: application/xml (1 operation), multipart/mixed (1 operation)',
  'answers: application/jsonl (1 operation), text/csv (1 operation)',
  'formats: phone (3 operations)',
  'patterns: ^(?!a)(.)\\1+$ (3 operations)',
  'extensions: x-mask (3 operations), x-weight (1 operation)',
];

describe('rules that are not enforced', () => {
  it('is listed by check, a line for each kind, and by operation in JSON', async () => {
    const run = commandsOn(document);
    const { stdout } = await run('check');
    assert.deepEqual(
      stdout.split('\n').filter((line) => line.startsWith('not enforced: ')),
      lines.map((line) => `not enforced: ${line}`),
    );
    const { unenforced } = JSON.parse((await run('check', '--json')).stdout) as { unenforced: UnenforcedPart[] };
    const found = unenforced.map(({ kind, name, operations }) => [kind, name, operations.join()]);
    assert.deepEqual(found.slice(0, 5), [
      ['request bodies', 'application/xml', 'add'],
      ['request bodies', 'multipart/mixed', 'mix'],
      ['answers', 'application/jsonl', 'lines'],
      ['answers', 'text/csv', 'lines'],
      ['formats', 'phone', 'list,add,mix'],
    ]);
  });

  it('is listed by upstreams try', async () => {
    const upstream = await startScriptedUpstream();
    const { stdout } = await commandsOn(document, upstream.url)('upstreams', 'try', 'things');
    await upstream.close();
    for (const line of lines) assert.ok(stdout.includes(`The gateway does not enforce ${line}.`), `${line}\n${stdout}`);
  });

  it('is a few lines for hundreds of operations', async () => {
    const paths = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [
        `/things${index}`,
        { get: { operationId: `list${index}`, [`x-note-${index % 20}`]: 1, responses: json } },
      ]),
    );
    const run = commandsOn({ ...document, paths });
    const printed = (await run('check')).stdout.split('\n').filter((line) => line.startsWith('not enforced: '));
    assert.equal(printed.length, 3);
    assert.match(printed[2] ?? '', /^not enforced: extensions: x-mask \(300 operations\), .* and 13 more$/);
  });

  it('is nothing where all is', async () => {
    const paths = { '/plain': document.paths['/plain'] };
    const { stdout } = await commandsOn({ ...document, paths })('check');
    assert.doesNotMatch(stdout, /not enforced/);
  });
});
