// The service behind every contestant: answers at once, from memory. GET gives a page of 20 customers, POST the created record.

import { createServer } from 'node:http';

const record = (index: number) => ({
  id: `cus_${String(index).padStart(16, '0')}`,
  name: `Customer ${index}`,
  email: `customer.${index}@example.com`,
  phone: '+15551000000',
  metadata: {},
  created_at: '2026-11-20T00:00:00.000Z',
  updated_at: '2026-11-20T00:00:00.000Z',
});
const page = Buffer.from(
  JSON.stringify({ data: Array.from({ length: 20 }, (_, index) => record(index)), cursor: null, has_more: false }),
);
const created = Buffer.from(JSON.stringify(record(1)));

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, ['content-type', 'application/json', 'content-length', String(page.length)]).end(page);
    return;
  }
  request.resume().on('end', () => {
    response
      .writeHead(201, ['content-type', 'application/json', 'content-length', String(created.length)])
      .end(created);
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1');
