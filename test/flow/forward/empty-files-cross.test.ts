// A file of no bytes is a body: an operation that requires bytes takes it, buffered or streamed, and its upstream gets it as it came.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';

const start = closesAfterEach();
const chunked = { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' };
const octets = { 'Content-Type': 'application/octet-stream' };

const json = { 'application/json': { schema: { type: 'object' } } };
const taking = (content: object, more: object = {}) => ({
  parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
  put: {
    security: [{ apiKey: ['files:write'] }],
    requestBody: { required: true, content },
    responses: { 201: { description: 'done', content: json } },
    ...more,
  },
});
const paths = {
  '/v1/blobs/{name}': taking({ 'application/octet-stream': {} }, { operationId: 'putBlob' }),
  '/v1/streams/{name}': taking({ '*/*': {} }, { operationId: 'putStream', 'x-gateway-body': 'stream' }),
  '/v1/mixed/{name}': taking({ ...json, 'image/*': {} }, { operationId: 'putMixed' }),
};

async function setUp() {
  const upstream = await start(
    startUpstream((_request, response) => {
      response.setHeader('content-type', 'application/json').writeHead(201).end('{}');
    }),
  );
  const gateway = await start(startGateway(thingsAt(upstream.url, {}, paths)));
  const { authorization } = await gateway.authorize();
  const put = (path: string, headers: Record<string, string | undefined>, body?: string) =>
    ask(gateway.port, requestOf(`PUT ${path}`, { Authorization: authorization, ...headers }, body));
  return { upstream, put };
}

describe('an empty file', () => {
  for (const path of ['/v1/blobs/a', '/v1/streams/a'])
    it(`reaches the upstream of ${path}`, async () => {
      const { upstream, put } = await setUp();
      assert.equal((await put(path, octets, '')).status, 201);
      assert.equal(upstream.requests.at(-1)?.headers['content-length'], '0');
      assert.equal(upstream.requests.at(-1)?.headers['content-type'], 'application/octet-stream');
      assert.equal((await put(path, { ...octets, ...chunked }, '0\r\n\r\n')).status, 201);
      assert.equal(upstream.requests.at(-1)?.body.length, 0);
      assert.equal(upstream.requests.length, 2);
    });

  it('has one of the declared types', async () => {
    const { upstream, put } = await setUp();
    assert.equal((await put('/v1/mixed/a', { 'Content-Type': 'image/png' }, '')).status, 201);
    assert.equal(upstream.requests.at(-1)?.headers['content-length'], '0');
    for (const headers of [{}, octets, { 'Content-Type': 'application/json' }])
      assert.equal((await put('/v1/mixed/a', headers, '')).error.code, 'body_missing');
    assert.equal(upstream.requests.length, 1);
  });

  it('is announced: a request without framing has no body', async () => {
    const { upstream, put } = await setUp();
    assert.equal((await put('/v1/blobs/a', octets)).error.code, 'body_missing');
    assert.equal(upstream.requests.length, 0);
  });
});
