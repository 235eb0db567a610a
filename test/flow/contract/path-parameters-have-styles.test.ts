// Path parameters of style matrix and label reach the service as the client wrote them; semicolons stand nowhere else.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sendRaw } from '../../support/raw.ts';
import { type ForeignGateway, serveForeign } from './foreign-gateway.ts';

const responses = { 200: { description: 'fine' } };
const ids = { type: 'array', items: { type: 'string', maxLength: 5 } };
const parameter = (name: string, more: object = {}) => ({ name, in: 'path', required: true, schema: ids, ...more });
const operation = (operationId: string, ...parameters: object[]) => ({ operationId, parameters, responses });

const document = {
  openapi: '3.1.0',
  info: { title: 'Maps', version: '1' },
  paths: {
    '/maps/{ids}': { get: operation('maps', parameter('ids', { style: 'matrix', explode: true })) },
    '/maps/{name}/owner': { get: operation('owner', parameter('name', { schema: { type: 'string' } })) },
    '/labels/{ids}': { get: operation('labels', parameter('ids', { style: 'label' })) },
    '/lists/{ids}': { get: operation('lists', parameter('ids')) },
    '/tags/{tag}': { get: operation('tags', parameter('tag', { schema: { type: 'string' } })) },
  },
};

describe('a path parameter with a style', () => {
  let foreign: ForeignGateway;
  before(async () => {
    foreign = await serveForeign(document, { basePath: '/v1' });
  });
  after(() => foreign.stop());

  const reached = async (path: string) => {
    const { status, code, violations, reached } = await foreign.send('GET', path);
    return status === 200 ? reached?.url : (violations?.join() ?? code);
  };

  it('of style matrix takes semicolons', async () => {
    assert.equal(await reached('/v1/maps/;ids=a;ids=b%3Bc'), '/maps/;ids=a;ids=b%3Bc');
    assert.equal(await reached('/v1/maps/;ids=a;ids=too-long'), 'path ids[1] too_long');
    assert.equal(await reached('/v1/maps/;ids=a;admin=b'), 'path ids wrong_format');
    assert.equal(await reached('/v1/maps/%3Bids=a'), 'path ids wrong_format');
  });

  it('keeps the separators that the client wrote', async () => {
    assert.equal(await reached('/v1/labels/.a,b%2Cc'), '/labels/.a,b%2Cc');
    assert.equal(await reached('/v1/labels/a,b'), 'path ids wrong_format');
    assert.equal(await reached('/v1/lists/a,b%2Cc'), '/lists/a,b%2Cc');
    assert.equal(await reached('/v1/lists/a,b%2Cc%20d%20e'), 'path ids[1] too_long');
  });

  it('leaves semicolons refused in all other segments', async () => {
    const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: it\r\nConnection: close\r\n\r\n`;
    for (const path of [
      '/v1/tags/a;b',
      '/v1;x/maps/;ids=a',
      '/v1/maps/;ids=a/owner',
      '/v1/lists/a;b',
      '/v1/maps/..;/x',
    ]) {
      const { text } = await sendRaw(foreign.gateway.port, head(path));
      assert.match(text, /^HTTP\/1\.1 400 [\s\S]*"malformed_path"/, path);
    }
  });
});
