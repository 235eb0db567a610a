// HEAD on an operation that declares GET is sent as GET: of a long body or a stream only the head is taken, and a short body is read so
// that its connection can be used again.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const LONG = 64 * 1_048_576;
const content = { 'application/octet-stream': {}, 'application/json': {}, 'text/event-stream': {} };
const get = { responses: { 200: { description: 'fine', content } } };
const document = {
  openapi: '3.1.0',
  info: { title: 'Files', version: '1' },
  paths: { '/long': { get }, '/endless': { get }, '/events': { get }, '/short': { get } },
};

describe('an answer to HEAD', () => {
  let connections = 0;
  let last: ServerResponse | undefined;
  const server = createServer(({ method, url }, response) => {
    assert.equal(method, 'GET');
    last = response;
    if (url === '/events') response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    else if (url === '/short') response.setHeader('content-type', 'application/json').end('{"a":1}');
    else {
      const length = url === '/long' ? { 'content-length': LONG } : {};
      response.writeHead(200, { 'content-type': 'application/octet-stream', etag: '"1"', ...length });
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', write);
      write();
    }
  });
  let gateway: TestGateway;
  let headers: Record<string, string>;
  before(async () => {
    server.on('connection', () => {
      connections += 1;
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const live = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const upstreams = { files: { contracts: ['files.json'], live, security: { apiKey: ['files:read'] } } };
    gateway = await startGateway({ contracts: { 'files.json': document }, upstreams });
    headers = await gateway.authorize({ scopes: ['files:read'] });
  });
  after(async () => {
    await gateway.stop();
    server.close();
  });

  const head = (path: string) => fetch(gateway.url + path, { method: 'HEAD', headers });

  for (const [path, length] of [
    ['/long', String(LONG)],
    ['/endless', null],
    ['/events', null],
  ] as const) {
    it(`does not wait for the body of ${path}`, async () => {
      const answer = await head(path);
      assert.deepEqual([answer.status, answer.headers.get('content-length')], [200, length]);
      if (path !== '/events') assert.equal(answer.headers.get('etag'), '"1"');
      const response = last as ServerResponse;
      if (!response.destroyed) await once(response, 'close');
      assert.equal(response.writableFinished, false);
      assert.deepEqual(gateway.logLines().at(-1)?.status, 200);
    });
  }

  it('leaves the connection of a short body open', async () => {
    await head('/short');
    const before = connections;
    assert.equal((await head('/short')).headers.get('content-length'), '7');
    await head('/short');
    assert.equal(connections, before);
  });
});
