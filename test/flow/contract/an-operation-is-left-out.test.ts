// `serve: false` in the entry leaves operations of a document out: two services may both have /health, and nothing of theirs shows it.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { inForce, saveAndReload } from '../reload/files.ts';

const responses = { 200: { description: 'done', content: { 'application/json': { schema: { type: 'object' } } } } };
const contractOf = (name: string) => ({
  openapi: '3.1.1',
  info: { title: name, version: '1' },
  paths: {
    [`/${name}`]: { get: { operationId: `list_${name}`, responses } },
    '/health': { get: { operationId: 'health', responses } },
    '/metrics': { get: { responses } },
  },
});

describe('an operation of two services', () => {
  let service: FakeUpstream;
  let gateway: TestGateway;
  const entry = (name: string, operations: object) => ({
    contracts: [`${name}.json`],
    ...{ live: service.url, public: true, operations },
  });
  const upstreams = (ofOrders: object) => ({
    books: entry('books', {}),
    orders: entry('orders', ofOrders),
  });
  const leftOut = { health: { serve: false }, 'GET /metrics': { serve: false } };
  before(async () => {
    service = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    gateway = await startGateway({
      contracts: { 'books.json': contractOf('books'), 'orders.json': contractOf('orders') },
      upstreams: upstreams(leftOut),
    });
  });
  after(async () => {
    await gateway.stop();
    await service.close();
  });

  const status = async (path: string) => (await fetch(gateway.url + path)).status;
  const mistakes = async () => ((await inForce(gateway)).last_failure?.mistakes ?? []).join('\n');

  it('is served for one of them, by its document and by its route', async () => {
    assert.deepEqual([await status('/orders'), await status('/health'), await status('/metrics')], [200, 200, 200]);
    const published = await (await fetch(`${gateway.url}/openapi/orders.json`)).json();
    assert.deepEqual(Object.keys((published as { paths: object }).paths), ['/orders']);
  });

  it('is refused again when it is no longer left out, with the line that does it', async () => {
    await saveAndReload(gateway, 'config/upstreams.yaml', {
      upstreams: upstreams({ 'GET /metrics': { serve: false } }),
    });
    assert.match(
      await mistakes(),
      /GET \/health is claimed .*leave it out by "operations: \{ "health": \{ serve: false \} \}"/,
    );
    await saveAndReload(gateway, 'config/upstreams.yaml', {
      upstreams: upstreams({ ...leftOut, list_orders: { serve: true } }),
    });
    assert.equal(await mistakes(), '');
  });

  it('has to be in the document, so that a typing error leaves nothing open', async () => {
    await saveAndReload(gateway, 'config/upstreams.yaml', {
      upstreams: upstreams({ ...leftOut, healht: { serve: false } }),
    });
    assert.match(await mistakes(), /operations\.healht: no contract of "orders" has an operation "healht"/);
  });
});
