// A path parameter that takes slashes gets the rest of the path, declared by the contract, by a vendor or by the entry.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sendRaw } from '../../support/raw.ts';
import { type ForeignGateway, serveForeign } from './foreign-gateway.ts';

const responses = { 200: { description: 'fine' } };
const parameter = (name: string, more: object = {}) => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', maxLength: 30 },
  ...more,
});
const operation = (operationId: string, ...parameters: object[]) => ({ operationId, parameters, responses });

const document = {
  openapi: '3.1.0',
  info: { title: 'Files', version: '1' },
  paths: {
    '/files/{file_path}': {
      get: operation('read_file', parameter('file_path')),
      delete: operation('delete_file', parameter('file_path')),
    },
    // As @fastify/swagger writes a wildcard: with a parameter of this name if the route has a schema for it.
    '/static/{*}': { get: operation('static'), head: operation('static_head', parameter('*')) },
    '/files/latest': { get: operation('latest') },
    '/repos/{owner}/contents/{path}': {
      get: operation('contents', parameter('owner'), parameter('path', { 'x-multi-segment': true })),
    },
    '/commits/{ref}': { get: operation('commit', parameter('ref', { 'x-gateway-path': 'rest' })) },
    '/commits/{ref}/status': {
      get: operation('status', { $ref: '#/components/parameters/ref' }),
    },
  },
  components: { parameters: { ref: parameter('ref', { 'x-gateway-path': 'rest' }) } },
};

describe('a path parameter that takes slashes', () => {
  let foreign: ForeignGateway;
  before(async () => {
    foreign = await serveForeign(document, {
      basePath: '/v1',
      operations: { read_file: { restOfPath: 'file_path' } },
      requests: [{ operations: ['read_file'], path: { lowerCase: ['file_path'] } }],
    });
  });
  after(() => foreign.stop());

  const reached = async (path: string, method = 'GET') => {
    const { status, reached } = await foreign.send(method, path);
    return status === 200 ? reached?.url : status;
  };
  const operationOf = () => foreign.gateway.logLines().findLast(({ operation }) => operation !== undefined)?.operation;

  it('gets the rest of the path by a setting of the entry', async () => {
    assert.equal(await reached('/v1/files/a/b%20c/d.txt'), '/files/a/b%20c/d.txt');
    assert.equal(operationOf(), 'read_file');
    assert.equal(await reached('/v1/files/a'), '/files/a');
    assert.equal(await reached('/v1/files/'), '/files/');
    assert.equal(await reached('/v1/files/a/'), '/files/a/');
    assert.equal(await reached('/v1/files/latest'), '/files/latest');
    assert.equal(operationOf(), 'latest');
    assert.equal(await reached('/v1/files'), 404);
  });

  it('leaves other methods of the path as they are', async () => {
    assert.equal(await reached('/v1/files/a', 'DELETE'), '/files/a');
    assert.equal(await reached('/v1/files/a/b', 'DELETE'), 405);
  });

  it('stays in its segments where a rule writes it', async () => {
    assert.equal(await reached('/v1/files/A/%C3%84%3F'), '/files/a/%C3%A4%3F');
  });

  it('gets it by the wildcard of Fastify, declared or not', async () => {
    assert.equal(await reached('/v1/static/css/a.css'), '/static/css/a.css');
    assert.equal(await reached('/v1/static/'), '/static/');
    assert.equal(await reached('/v1/static/css/a.css', 'HEAD'), '/static/css/a.css');
    assert.equal(await reached(`/v1/static/css/${'a'.repeat(30)}`, 'HEAD'), 400);
  });

  it('gets it by the member of a vendor', async () => {
    assert.equal(await reached('/v1/repos/ada/contents/docs/a.md'), '/repos/ada/contents/docs/a.md');
  });

  it('leaves the segments behind it to its template', async () => {
    assert.equal(await reached('/v1/commits/heads/main/status'), '/commits/heads/main/status');
    assert.equal(operationOf(), 'status');
    assert.equal(await reached('/v1/commits/heads/main'), '/commits/heads/main');
    assert.equal(operationOf(), 'commit');
    assert.equal(await reached('/v1/commits/status'), '/commits/status');
    assert.equal(operationOf(), 'commit');
  });

  it('is checked as a whole by its schema', async () => {
    const { violations } = await foreign.send('GET', `/v1/files/${'ab/'.repeat(11)}`);
    assert.deepEqual(violations, ['path file_path too_long']);
  });

  it('cannot leave its place', async () => {
    const { authorization } = await foreign.gateway.authorize({ scopes: ['foreign:write'] });
    for (const rest of [
      'a/../b',
      '..',
      'a/%2e%2e/b',
      'a/.%2E',
      './a',
      'a//b',
      'a%2Fb',
      'a%5C..%5Cb',
      'a/..;/b',
      'a%00',
    ]) {
      const request = `GET /v1/files/${rest} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`;
      const answer = await sendRaw(foreign.gateway.port, request);
      assert.deepEqual([answer.status, answer.error?.code], [400, 'malformed_path'], rest);
    }
  });
});
