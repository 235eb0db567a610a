// One contract file and one entry in upstreams.yaml put a service behind the gateway.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const contract = `openapi: 3.1.1
info: { title: Parts, version: "1" }
paths:
  /v1/parts:
    get:
      operationId: listParts
      security: [{ apiKey: ["parts:read"] }]
      parameters:
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 50, default: 10 } }
        - { name: in_stock, in: query, schema: { type: boolean } }
      responses:
        "200":
          description: The parts
          headers: { X-Total: { schema: { type: integer } } }
          content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Part" } } } }
    post:
      operationId: createPart
      x-gateway-undeclared-media-types: refuse
      security: [{ apiKey: ["parts:write"] }]
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: "#/components/schemas/Part" } } }
      responses:
        "201": { description: The part, content: { application/json: { schema: { $ref: "#/components/schemas/Part" } } } }
  /v1/parts/{part_id}:
    get:
      operationId: retrievePart
      security: [{ apiKey: ["parts:read"] }]
      parameters: [{ name: part_id, in: path, required: true, schema: { type: string, pattern: "^prt_[0-9]+$" } }]
      responses: { "200": { description: The part } }
components:
  securitySchemes: { apiKey: { type: http, scheme: bearer } }
  schemas:
    Part:
      type: object
      additionalProperties: false
      required: [name]
      properties:
        id: { type: string, readOnly: true }
        name: { type: string, minLength: 1 }
        price: { type: integer, minimum: 0 }
`;

describe('a backend that was added by configuration', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let headers: { authorization: string };
  before(async () => {
    upstream = await startUpstream(({ method }, response) => {
      response.setHeader('content-type', 'application/json');
      response.setHeader('x-total', '1');
      response.writeHead(method === 'POST' ? 201 : 200).end(method === 'POST' ? '{"name":"Fan"}' : '[{"name":"Fan"}]');
    });
    gateway = await startGateway({
      contracts: { 'parts.yaml': contract },
      upstreams: { parts: { contracts: ['parts.yaml'], live: upstream.url } },
    });
    headers = await gateway.authorize({ scopes: ['parts:read', 'parts:write'] });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const send = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${gateway.url}${path}`, {
      ...init,
      headers: { ...headers, 'content-type': 'application/json', ...init.headers },
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  const violationsOf = (answer: { body: { error: { errors: Record<string, unknown>[] } } }) =>
    answer.body.error.errors.map((error) => `${error.in} ${error.pointer ?? error.param} ${error.code}`);

  it('lists, with the defaults of its contract and its own headers', async () => {
    const answer = await send('/v1/parts?in_stock=true');
    assert.deepEqual([answer.status, answer.body], [200, [{ name: 'Fan' }]]);
    assert.equal(answer.headers.get('x-total'), '1');
    assert.equal(upstream.requests.at(-1)?.url, '/v1/parts?in_stock=true&limit=10');
  });

  it('creates', async () => {
    const answer = await send('/v1/parts', { method: 'POST', body: '{"name":"Fan","price":5}' });
    assert.deepEqual([answer.status, answer.body], [201, { name: 'Fan' }]);
    assert.equal(upstream.requests.at(-1)?.body.toString(), '{"name":"Fan","price":5}');
  });

  it('is not reached by requests that do not match its contract', async () => {
    const before = upstream.requests.length;
    const body = JSON.stringify({ id: 'x', price: -1, colour: 'red' });
    const created = await send('/v1/parts?dry_run=1', { method: 'POST', body });
    assert.equal(created.status, 400);
    assert.deepEqual(violationsOf(created).sort(), [
      'body /colour unknown',
      'body /id read_only',
      'body /name required',
      'body /price too_small',
      'query dry_run unknown',
    ]);
    assert.deepEqual(violationsOf(await send('/v1/parts?limit=51&limit=5')), [
      'query limit duplicate',
      'query limit too_large',
    ]);
    assert.deepEqual(violationsOf(await send('/v1/parts/fan')), ['path part_id pattern_mismatch']);
    assert.equal((await send('/v1/parts', { method: 'POST', body: '' })).body.error.code, 'body_missing');
    assert.equal((await send('/v1/parts', { method: 'POST', body: '{' })).body.error.code, 'malformed_json');
    assert.equal(upstream.requests.length, before);
  });

  it('has the paths and methods of its contract and no others', async () => {
    for (const path of ['/v1/part', '/v1/parts/', '/v1/parts/prt_1/x'])
      assert.deepEqual([(await send(path)).status, path], [404, path]);
    const wrongMethod = await send('/v1/parts', { method: 'DELETE' });
    assert.equal(wrongMethod.status, 405);
    assert.equal(wrongMethod.headers.get('allow'), 'GET, HEAD, OPTIONS, POST');
    const options = await fetch(`${gateway.url}/v1/parts/prt_1`, { method: 'OPTIONS' });
    assert.equal(options.headers.get('allow'), 'GET, HEAD, OPTIONS');
  });

  it('answers HEAD as it answers GET, without a body', async () => {
    const answer = await send('/v1/parts?limit=1', { method: 'HEAD' });
    assert.deepEqual([answer.status, answer.body], [200, undefined]);
  });

  it('has the scopes of its contract', async () => {
    const { authorization } = await gateway.authorize({ scopes: ['parts:read'] });
    const refused = await send('/v1/parts', { method: 'POST', body: '{"name":"x"}', headers: { authorization } });
    assert.deepEqual([refused.status, refused.body.error.required_scopes], [403, ['parts:write']]);
  });

  it('accepts only declared requests', async () => {
    const csv = await send('/v1/parts', { method: 'POST', body: 'name', headers: { 'content-type': 'text/csv' } });
    assert.deepEqual([csv.status, csv.headers.get('accept')], [415, 'application/json']);
  });

  it('decides itself how to answer Accept, unless the contract refuses undeclared media types', async () => {
    const html = { accept: 'text/html' };
    assert.equal((await send('/v1/parts', { headers: html })).status, 200);
    const refused = await send('/v1/parts', { method: 'POST', body: '{"name":"x"}', headers: html });
    assert.deepEqual([refused.status, refused.body.error.available_media_types], [406, ['application/json']]);
  });
});
