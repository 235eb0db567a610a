// The documentation of several services, where the configuration gives the API no title, and of answers that are examples.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startGateway } from '../../support/gateway.ts';

const contractOf = (title: string, path: string) => ({
  openapi: '3.1.0',
  info: { title, version: '1' },
  security: [{ apiKey: [`${path}:read`] }],
  paths: {
    [`/${path}`]: {
      get: {
        operationId: `list_${path}`,
        responses: { 200: { description: 'all', content: { 'application/json': { schema: { type: 'array' } } } } },
      },
    },
  },
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
});

it('several services are named on the first page, and a form says that its answer is an example', async (test) => {
  const gateway = await startGateway({
    contracts: { 'books.yaml': contractOf('Books', 'books'), 'orders.yaml': contractOf('Orders', 'orders') },
    upstreams: {
      books: { contracts: ['books.yaml'], live: 'http://127.0.0.1:9', test: 'examples:' },
      orders: { contracts: ['orders.yaml'], live: 'http://127.0.0.1:9', test: 'http://127.0.0.1:9' },
    },
  });
  test.after(() => gateway.stop());
  const pageAt = async (path: string) => (await fetch(gateway.url + path)).text();
  const start = await pageAt('/docs');
  assert.match(start, /<h1>Books, Orders<\/h1>/);
  assert.match(start, /Several services at one address: Books, Orders\./);
  const note = 'the answer is an example of the contract, not data of the service';
  assert.ok((await pageAt('/docs/reference/books/list_books')).includes(note));
  assert.ok(!(await pageAt('/docs/reference/orders/list_orders')).includes(note));
});
