// The samples of an operation that takes a form with a file send a file, as the documents of frameworks declare it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const run = promisify(execFile);
const BYTES = Buffer.from([0, 255, 13, 10, 128, 7]);

const formOf = (file: object) => ({
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['file', 'caption'],
        properties: { file, caption: { type: 'string', example: 'A bill' } },
      },
    },
  },
});
const operationOf = (operationId: string, file: object) => ({
  post: {
    operationId,
    security: [{ key: ['bills:write'] }],
    requestBody: formOf(file),
    responses: { 200: { description: 'done', content: { 'application/json': { schema: { type: 'string' } } } } },
  },
});
const contract = {
  openapi: '3.1.0',
  info: { title: 'Bills', version: '1' },
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  paths: {
    '/bills/binary': operationOf('attachBinary', { type: 'string', format: 'binary' }),
    '/bills/any': {
      put: {
        operationId: 'putAny',
        security: [{ key: ['bills:write'] }],
        requestBody: { content: { '*/*': { schema: { type: 'string', format: 'binary' } } } },
        responses: { 204: { description: 'done' } },
      },
    },
    '/bills/media': operationOf('attachMedia', { type: 'string', contentMediaType: 'application/octet-stream' }),
  },
};

describe('the samples of a form with a file', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let key: string;
  let path: string;
  before(async () => {
    upstream = await startUpstream((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('"stored"'),
    );
    gateway = await startGateway({
      contracts: { 'bills.yaml': contract },
      upstreams: { bills: { contracts: ['bills.yaml'], live: upstream.url, test: 'examples:' } },
    });
    key = (await gateway.authorize()).authorization.replace('Bearer ', '');
    path = join(temporaryDirectory(), 'bill.bin');
    writeFileSync(path, BYTES);
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function samplesOf(operation: string): Promise<Record<string, string>> {
    const text = await (await fetch(`${gateway.url}/docs/reference/bills/${operation}.md`)).text();
    const filled = text
      .replaceAll('YOUR_API_KEY', key)
      .replaceAll('path/to/file', path)
      .replaceAll(/http:\/\/localhost:\d+/g, gateway.url);
    return Object.fromEntries(
      [...filled.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, name, code]) => [name, code]),
    );
  }

  for (const operation of ['attachBinary', 'attachMedia'])
    it(`send its bytes, and the other fields as text: ${operation}`, async (t) => {
      const { sh = '', js = '', python = '', json } = await samplesOf(operation);
      assert.match(sh, /-F "file=@/);
      assert.equal(json?.trim()[0], '"', 'the example of a JSON response is JSON');
      const ways: [string, readonly string[], string][] = [
        ['bash', ['-c'], `curl -sS ${sh.replace(/^curl /, '')}`],
        [process.execPath, ['--input-type=module', '--eval'], js],
        ['python3', ['-c'], python],
      ];
      for (const [program, flags, code] of ways) {
        const has = await run(program, ['--version']).catch(() => undefined);
        if (has === undefined) {
          t.diagnostic(`This machine has no ${program}.`);
          continue;
        }
        await run(program, [...flags, code]);
        const body = upstream.requests.at(-1)?.body ?? Buffer.alloc(0);
        assert.ok(body.includes(BYTES), `${program}: ${body.toString('latin1')}`);
        assert.match(body.toString('latin1'), /name="caption"\r\n\r\nA bill\r\n/, program);
        assert.match(body.toString('latin1'), /name="file"; filename="/, program);
      }
      assert.equal(upstream.requests.length % 3, 0, 'each of them has arrived');
    });

  it('has a field for a file on its page', async () => {
    const page = await (await fetch(`${gateway.url}/docs/reference/bills/attachMedia`)).text();
    assert.match(page, /<span class="type">bytes<\/span>/);
    const isFile = / data-required="true" type="file">/;
    assert.match(page, /<code>file<\/code> <small>form<\/small> <span class="required">required<\/span>/);
    assert.match(page, isFile);
  });

  it('has a field for a file where any bytes may be sent, and sends them as bytes', async () => {
    const page = await (await fetch(`${gateway.url}/docs/reference/bills/putAny`)).text();
    assert.match(page, /<input id="try-file" type="file" data-type="application\/octet-stream">/);
    assert.doesNotMatch(page, /<textarea|Content-Type: \*/);
    const { sh = '' } = await samplesOf('putAny');
    assert.match(sh, /Content-Type: application\/octet-stream/);
  });
});
